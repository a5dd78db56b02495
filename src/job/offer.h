/* SPDX-License-Identifier: MIT */
/* What this process offers the other ranks, and how far that has come. The store's two ways (pmi.c, pmix.c) stand
 * before functions that MPI calls, and find here what they have to do then.
 *
 * Owner: the thread in MPI_Init. */
#ifndef JOB_OFFER_H
#define JOB_OFFER_H

#include <stdbool.h>
#include <sys/types.h>

enum { OFFER_STORE_BYTES = 257 }; /* Hydra's longest name is 256 */

typedef ssize_t offer_write_fn(int descriptor, const void *bytes, size_t length);
typedef void offer_function_fn(void);

/* text: fingerprint.h; NULL: nothing is offered. is_there: it will be there for all ranks once MPI_Init is over. */
struct offer {
    const char *text;
    bool is_there;
    /* PMI: where the launcher listens, and what MPI speaks with it. write: as it was. */
    int descriptor;
    int rank;
    int version;
    offer_write_fn *write;
    char store[OFFER_STORE_BYTES];
    /* PMIx: is it published, or put beside MPI's addresses? ask: PMIx_Lookup or PMIx_Get of the library that took it.
     */
    bool is_published;
    offer_function_fn *ask;
};

extern struct offer offer;

#endif
