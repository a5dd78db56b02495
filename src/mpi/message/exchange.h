/* SPDX-License-Identifier: MIT */
/* A send and a receive of one call (MPI 4.1, 3.10). */
#ifndef MPI_MESSAGE_EXCHANGE_H
#define MPI_MESSAGE_EXCHANGE_H

#include "mpi/message/message.h"

struct exchange {
    struct message send;
    struct message receive;
    MPI_Status *status;
    bool is_replacing; /* both messages have the same buffer */
};

/* True when the exchange was carried out, with *result. Otherwise it is to be
 * passed whole, and all that it must wait for has been waited for. */
bool exchange_try(struct exchange *exchange, const void *return_address, int *result);

/* Lets MPI look at a receive's arguments: what it finds wrong it raises and returns. */
int exchange_check_receive(const struct message *receive);

/* After exchange_try(), whatever it said, once the exchange is over. Returns `result`, the call's. */
int exchange_end(const struct exchange *exchange, int result);

#endif
