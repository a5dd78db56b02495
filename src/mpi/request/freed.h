/* SPDX-License-Identifier: MIT */
/* Requests that the program freed while they were active (MPI 4.1, 3.7.3): their
 * operations go on, and MPI goes on using their bytes. */
#ifndef MPI_REQUEST_FREED_H
#define MPI_REQUEST_FREED_H

/* Inside the gate, before it is asked which bytes MPI may use: gives back those that are over, a few at a time. */
void freed_requests_poll(void);

/* After a call that has brought something, where transfer_ahead_count() is not 0: it may tell that a send is over that
 * could not be held. Waits for such sends, for a time, since it need not. */
void freed_requests_await(void);

/* Before MPI_Finalize, without an engine any more: MPI gets them all, as the program gave them. */
void freed_requests_give_up(void);

#endif
