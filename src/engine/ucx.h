/* SPDX-License-Identifier: MIT */
/* UCX, which carries the messages of Open MPI and MPICH over RDMA devices and shared memory, where no socket tells that
 * something has come. A worker of UCX's has a descriptor that does, if whoever opens UCX asks for such events
 * (ucp/api/ucp.h, UCP_FEATURE_WAKEUP). No MPI asks. So with --progress event Lapwing stands before the function that
 * opens UCX, and asks in MPI's place. UCX then takes only transports that can tell. */
#ifndef ENGINE_UCX_H
#define ENGINE_UCX_H

#include <stdbool.h>

/* Around MPI_Init, by its thread: MPI opens UCX meanwhile. */
void engine_ucx_expect(bool is_expected);

/* After MPI_Init: may the engine ask the worker for events? Not where threads may be in UCX beside it. */
void engine_ucx_settle(bool may_listen);

/* Readable, newly so, when something has happened in the worker since engine_ucx_arm(). -1: nothing tells. */
int engine_ucx_descriptor(void);

/* Asks to be told of the next event. False: something is left to be done first, or there is no worker any more. Inside
 * the gate, while there is work: so no thread of the program is in UCX. */
bool engine_ucx_arm(void);

#endif
