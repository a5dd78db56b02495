/* SPDX-License-Identifier: MIT */
/* One call of a collective, and how its four forms are called. */
#ifndef COLLECTIVES_H
#define COLLECTIVES_H

#include "machine.h"

/* `in`, and of a scatter `out`, is MPI_IN_PLACE where a program says buffer -1. */
struct collective {
    void *in;
    void *out;
    int count;
    MPI_Datatype type;
    int root;
    MPI_Op operation;
    MPI_Comm comm;
    bool is_large;        /* MPI_Bcast_c, ... where the MPI has them */
    MPI_Request *request; /* NULL: blocking */
    struct lists *lists;  /* of those that have some; they stay until the request is over */
};

typedef int collective_fn(const struct collective *);

/* A blocking function and the one that starts it, with the same arguments. */
#define COLLECTIVE_SMALL(blocking, started, ...) \
    (c->request ? MPI_##started(__VA_ARGS__, c->request) : MPI_##blocking(__VA_ARGS__))

/* arguments: a macro of what holds the lists, whose twins with large counts have other types. */
#if MPI_VERSION >= 4
#define COLLECTIVE_LARGE(blocking, started, ...) \
    (c->request ? MPI_##started##_c(__VA_ARGS__, c->request) : MPI_##blocking##_c(__VA_ARGS__))
#define COLLECTIVE(blocking, started, ...) \
    (c->is_large ? COLLECTIVE_LARGE(blocking, started, __VA_ARGS__) : COLLECTIVE_SMALL(blocking, started, __VA_ARGS__))
#define COLLECTIVE_LISTED(blocking, started, arguments)                  \
    (c->is_large ? COLLECTIVE_LARGE(blocking, started, arguments(large)) \
                 : COLLECTIVE_SMALL(blocking, started, arguments(small)))
#else
#define COLLECTIVE COLLECTIVE_SMALL
#define COLLECTIVE_LISTED(blocking, started, arguments) COLLECTIVE_SMALL(blocking, started, arguments(small))
#endif

/* Where a request's lists stay; one for all blocking calls is request -1's. */
struct lists *lists_of_request(int64_t request);
void lists_spoil(struct lists *lists); /* after a blocking call nobody may look at them */

collective_fn lists_gatherv, lists_scatterv, lists_allgatherv, lists_alltoallv, lists_alltoallw, lists_reduce_scatter;
collective_fn lists_neighbor_allgatherv, lists_neighbor_alltoallv, lists_neighbor_alltoallw;

#endif
