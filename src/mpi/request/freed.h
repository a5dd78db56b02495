/* SPDX-License-Identifier: MIT */
/* Requests that the program freed while they were active (MPI 4.1, 3.7.3): their
 * operations go on, and MPI goes on using their bytes. */
#ifndef MPI_REQUEST_FREED_H
#define MPI_REQUEST_FREED_H

#include "abi.h"
#include "op/transfer.h"

/* Inside the gate, before it is asked which bytes MPI may use: gives back those that are over, a few at a time. */
void freed_requests_poll(void);

/* For freed_requests_await(), where there may be some. */
void freed_requests_await_some(void);

/* After a call that has brought something, which may tell that a send is over that could not be held. Waits for such
 * sends, for a time, since it need not. */
static inline void freed_requests_await(void)
{
    if (transfer_ahead_count() != 0)
        freed_requests_await_some();
}

/* The same after a call that completes nothing, and has found so many requests over. */
static inline int freed_requests_await_if(int result, const int *over)
{
    if (result == MPI_SUCCESS && *over > 0)
        freed_requests_await();
    return result;
}

/* May an answer come before what it answers is over, since a receive of another rank has returned early? Where receives
 * never do it tells the truth. Not from inside the gate. */
bool freed_answers_may_be_early(void);

/* For how long what is waited for need be: at 100 MB/s, and what a busy machine takes. */
int64_t freed_patience_ns(uint64_t bytes);

/* Before MPI_Finalize, without an engine any more: MPI gets them all, as the program gave them. */
void freed_requests_give_up(void);

#endif
