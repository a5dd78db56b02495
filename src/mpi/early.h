/* SPDX-License-Identifier: MIT */
/* What calls ask of early receives (option early_receive, folder early/): messages that have been received before the
 * program asked for them. The one way from all other files to that folder. Where the option is off there are no
 * functions, and nothing is asked. */
#ifndef MPI_EARLY_H
#define MPI_EARLY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"

struct message;

typedef int early_end_fn(MPI_Comm *comm);

/* is_used: is anything looked for? Until then, and once MPI has ended, no message can be here. Written by the program's
 * thread inside MPI (early_engine.c): before the engine looks for the first time, and when it is gone.
 * claims: MPI_Irecvs that have been given a message which is still arriving: calls must look for it. Written inside
 * the gate; read by any thread of the program, which has begun them or has them from who did: relaxed.
 * pauses: calls that look for a message and then let MPI match. The program's threads write, one at a time, before they
 * enter the gate; the engine reads inside it. relaxed: the gate orders.
 * The rest has one owner, early_install_functions(), once, before the first entry runs. What the functions do stands at
 * those below, which ask them. */
struct early {
    bool is_used;
    _Atomic uint32_t claims;
    _Atomic uint32_t pauses;
    bool is_on; /* the functions are there */
    void (*poll)(void);
    void (*advance)(void);
    void (*pause)(void);
    void (*resume)(const struct message *receive, int result);
    bool (*awaits)(const struct message *receive);
    bool (*receive)(struct message *receive, MPI_Status *status, int *result);
    bool (*start)(const struct message *receive, MPI_Request *request, int *result);
    bool (*probe)(int source, int tag, MPI_Comm comm, MPI_Status *status);
    void (*close)(int source, int tag, MPI_Comm comm, const char *function);
    void (*refuse_synchronous)(MPI_Count count, MPI_Datatype datatype, int peer, MPI_Comm comm, const char *function);
    int (*end_comm)(MPI_Comm *comm, early_end_fn *end);
    void (*unlearn)(MPI_Comm comm);
    bool (*settle)(void);
    void (*finish)(void);
};

extern __attribute__((visibility("hidden"))) struct early early;

static inline bool early_is_claimed(void)
{
    return atomic_load_explicit(&early.claims, memory_order_relaxed) != 0;
}

/* For the engine, beside its progress: ends what arrives, and takes what has come. Inside the gate. */
static inline void early_poll(void)
{
    if (early.is_on)
        early.poll();
}

/* Lets claimed messages arrive. Inside the gate, once some are. */
static inline void early_advance(void)
{
    if (early.is_on)
        early.advance();
}

/* Around a call that first asks here and then lets MPI match: nothing is taken meanwhile. Where the result is
 * MPI_SUCCESS the program has received this way. Outside the gate. */
static inline void early_pause(void)
{
    if (early.is_on)
        early.pause();
}

static inline void early_resume(const struct message *receive, int result)
{
    if (early.is_on)
        early.resume(receive, result);
}

/* Is there a message for this blocking receive? Outside the gate, paused. */
static inline bool early_awaits(const struct message *receive)
{
    return early.is_on && early.awaits(receive);
}

/* The same; then it is received, and *result and *status are the receive's. */
static inline bool early_receive(struct message *receive, MPI_Status *status, int *result)
{
    return early.is_on && early.receive(receive, status, result);
}

/* For MPI_Irecv, inside the gate: is there a message? Then *request ends once its data are in the buffer. */
static inline bool early_start(const struct message *receive, MPI_Request *request, int *result)
{
    return early.is_on && early.start(receive, request, result);
}

/* Is there a message for a probe? Then *status is what it says of it. Inside the gate. */
static inline bool early_probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return early.is_on && early.probe(source, tag, comm, status);
}

/* The program is going to match messages by `function`, which can not be given one that was taken:
 * none is taken on the communicator any more, and if one is here the job ends. Outside the gate. */
static inline void early_close(int source, int tag, MPI_Comm comm, const char *function)
{
    if (early.is_on)
        early.close(source, tag, comm, function);
}

/* The program sends by `function`, which is synchronous: ends the job if a receiver might
 * take the message early. */
static inline void early_refuse_synchronous(MPI_Count count, MPI_Datatype datatype, int peer, MPI_Comm comm,
                                            const char *function)
{
    if (early.is_on)
        early.refuse_synchronous(count, datatype, peer, comm, function);
}

/* Where early.is_on: ends a communicator by MPI's function, and forgets what belongs to it. Outside the gate. */
static inline int early_end_comm(MPI_Comm *comm, early_end_fn *end)
{
    return early.end_comm(comm, end);
}

/* What the program promises of a communicator changes: nothing is taken there until a rank has been named again,
 * and the promises looked at. Inside the gate. */
static inline void early_unlearn(MPI_Comm comm)
{
    if (early.is_on)
        early.unlearn(comm);
}

/* Before MPI_Finalize, once the engine is gone: lets all arrive. True when nothing is left. What is can still be
 * received, by functions of attributes that MPI_Finalize calls (MPI 4.1, 11.2.4), until early_finish(). */
static inline bool early_settle(void)
{
    return !early.is_on || early.settle();
}

static inline void early_finish(void)
{
    if (early.is_on)
        early.finish();
}

#endif
