/* SPDX-License-Identifier: MIT */
/* Receives of the program's own whose buffers are held from MPI_Irecv on (message/ahead_start.h), where MPI knows the
 * address in transit. So MPI_Wait and MPI_Waitall may return before their data have come: then the request becomes the
 * op's, the program's handle null, and its status one that is provisional (status.h), as after a blocking receive.
 *
 * Until then the request is the program's, which may complete it by any call; then the buffer is given back. It may
 * also do what needs the pages: what shares the first or the last one is in use, and nobody may wait there for a
 * message that may need what the program does next. So whoever touches them gets them back at once, and the data go on
 * to arrive in a copy, which is brought home when the request is over. */
#ifndef MPI_REQUEST_AHEAD_H
#define MPI_REQUEST_AHEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "op/transfer.h"

/* As many are held at a time. */
enum { AHEAD_MAX = 32 };

struct sent_op_wait;

/* Those that a call names: by their place in its array. */
struct ahead_one {
    struct transfer *transfer;
    int index;
    MPI_Request request; /* while MPI does not see it, else null */
};

struct ahead_call {
    int count;
    struct ahead_one all[AHEAD_MAX];
};

/* For transfer_ahead_begin(): looks whether it is over, and gives the buffer back in any case. */
void ahead_let_go(struct transfer *transfer);

/* Around a call that may complete requests, not inside the gate. Afterwards those that it has completed have their
 * buffers back. */
void ahead_enter(struct ahead_call *call, int count, const MPI_Request *requests);
void ahead_leave(struct ahead_call *call, const MPI_Request *requests);

/* In a call that waits for all of its requests: waits for all but the sends among them, and those that are held. Until
 * ahead_take() nobody sees those of these that are not over then: the sends may become an op meanwhile. */
void ahead_hide(struct ahead_call *call, struct sent_op_wait *wait);

/* Does the rest of that call: waits for the sends, too, and for what was parted; what is still held then goes on as
 * ops. After an error it is the program's again. False: the call is still to be made. */
bool ahead_take(struct ahead_call *call, struct sent_op_wait *wait, int *result);

/* Is a request one of these? Inside the gate. */
bool ahead_knows(MPI_Request request);

/* A request that the program has freed is over, and is about to be given back to MPI. Inside the gate. */
void ahead_end_freed(MPI_Request request);

/* It is given back to MPI as it is, and MPI asked for it no more. Inside the gate, or when MPI ends. */
void ahead_forget(MPI_Request request);

/* MPI ends: what has come is brought home, and the rest forgotten. Not inside the gate. */
void ahead_finish(void);

#endif
