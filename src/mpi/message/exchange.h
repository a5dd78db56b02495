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

/* The way of most exchanges: nothing is pending, and both messages are known to be small. Counts them; the caller gives
 * the call to MPI. */
static inline bool exchange_goes_straight(MPI_Count send_count, MPI_Datatype send_type, MPI_Count receive_count,
                                          MPI_Datatype receive_type)
{
    return straight_may_pass(send_count, (uint64_t)(uintptr_t)send_type) &&
           message_goes_straight(receive_count, receive_type) && message_goes_straight(send_count, send_type);
}

/* MPI_THREAD_MULTIPLE: the same, inside the gate (message_enter_small()). */
bool exchange_enters_small(const struct exchange *exchange);

/* True when the exchange was carried out, with *result. Otherwise it is to be
 * passed whole, and all that it must wait for has been waited for. */
bool exchange_try(struct exchange *exchange, const void *return_address, int *result);

/* Lets MPI look at a receive's arguments: what it finds wrong it raises and returns. */
int exchange_check_receive(const struct message *receive);

/* After exchange_try(), whatever it said, once the exchange is over. Returns `result`, the call's. */
int exchange_end(const struct exchange *exchange, int result);

#endif
