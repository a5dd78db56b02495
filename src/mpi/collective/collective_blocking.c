/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_blocking.h"

#include "mpi/collective_listed.h"
#include "mpi/real.h"

static int blocking_given(const struct collective_call *call)
{
    const struct collective_call_arguments *given = &call->given;
    struct collective_work work = {.function = call->function,
                                   .comm = given->comm,
                                   .root = given->root,
                                   .op = given->op,
                                   .send = given->send,
                                   .receive = given->receive,
                                   .has_large_counts = given->has_large_counts,
                                   .sent = call->sent,
                                   .received = call->received};
    return collective_listed_run(&work, NULL);
}

/* Counts fit an int: collective_begin.c, block_measure(). */
int collective_blocking(const struct collective_call *c)
{
    const struct collective_call_arguments *a = &c->given;
    int sent = (int)a->send_count;
    int received = (int)a->receive_count;
    MPI_Datatype type = a->receive_type;
    if (c->is_given)
        return blocking_given(c);
    switch (c->function) {
    case COLLECTIVE_BCAST:
        return real.MPI_Bcast(a->receive, received, type, a->root, a->comm);
    case COLLECTIVE_GATHER:
        return real.MPI_Gather(a->send, sent, a->send_type, a->receive, received, type, a->root, a->comm);
    case COLLECTIVE_SCATTER:
        return real.MPI_Scatter(a->send, sent, a->send_type, a->receive, received, type, a->root, a->comm);
    case COLLECTIVE_ALLGATHER:
        return real.MPI_Allgather(a->send, sent, a->send_type, a->receive, received, type, a->comm);
    case COLLECTIVE_ALLTOALL:
        return real.MPI_Alltoall(a->send, sent, a->send_type, a->receive, received, type, a->comm);
    case COLLECTIVE_REDUCE:
        return real.MPI_Reduce(a->send, a->receive, received, type, a->op, a->root, a->comm);
    case COLLECTIVE_ALLREDUCE:
        return real.MPI_Allreduce(a->send, a->receive, received, type, a->op, a->comm);
    case COLLECTIVE_SCAN:
        return real.MPI_Scan(a->send, a->receive, received, type, a->op, a->comm);
    case COLLECTIVE_EXSCAN:
        return real.MPI_Exscan(a->send, a->receive, received, type, a->op, a->comm);
    default:
        return real.MPI_Reduce_scatter_block(a->send, a->receive, received, type, a->op, a->comm);
    }
}
