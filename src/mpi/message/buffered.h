/* SPDX-License-Identifier: MIT */
/* Messages of MPI_Bsend that the engine carries on. */
#ifndef MPI_MESSAGE_BUFFERED_H
#define MPI_MESSAGE_BUFFERED_H

/* For the engine, as the last of what it does inside the gate: ends those that are over. */
void buffered_poll(void);

/* Waits for all of them, as MPI does for its own where the buffer is detached, flushed, or left at MPI_Finalize. */
void buffered_wait_all(void);

#endif
