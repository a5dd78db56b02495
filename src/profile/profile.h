/* SPDX-License-Identifier: MIT */
/* Timing of the program's MPI calls. While no profile is wanted nothing of this is
 * reached: the slots lead past it (bind.c). The part that knows MPI's types is
 * mpi/measure.h. */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "profile/profile_thread.h"
#include "record/profile_file.h"

/* One call while it lasts, on the stack of its wrapper. */
struct profile_call {
    uint32_t function;
    int32_t peer;  /* in MPI_COMM_WORLD; negative: none, or not known */
    int64_t bytes; /* negative: the call moves no message */
    int64_t before_ns;
    int64_t inside_before_ns; /* the thread's, at the call's begin */
    struct profile_format_site *site;
};

/* The name of an MPI function; given by lib/wiring.c, since the table is bind's. */
extern const char *(*const profile_function_name)(uint32_t function);

/* is_on: between MPI_Init and MPI_Finalize, when a profile is wanted. first_thread: the first
 * that was seen; another one makes the profile a threaded one. */
extern struct profile_now {
    _Atomic bool is_on;
    _Atomic bool is_drawn; /* a picture instead (picture.h): set in MPI_Init */
    _Atomic(const struct profile_thread *) first_thread;
} profile_now;

/* Before the first MPI call: is one wanted? */
bool profile_is_wanted(void);

/* After MPI_Init; false, and no profile, when its file cannot be made. */
bool profile_start(const struct profile_file_identity *identity);

/* MPI_Finalize. */
void profile_stop(void);

/* The process ends without: what is closed stays so, its touches are still seen to. */
void profile_leave(bool is_finalized);

/* In the child after fork. */
void profile_fork(void);

void profile_call_start(struct profile_call *call, uint32_t function, const void *return_address);

/* Is the call whose frame this is made inside another one? Of calls that were left by a jump (from an error handler)
 * no frame is below. */
static inline bool profile_is_inside(uintptr_t frame)
{
    return frame < profile_thread.frame;
}

/* False when this call is not to be measured. */
static inline bool profile_call_begin(struct profile_call *call, uint32_t function, const void *return_address)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    /* relaxed: written by the thread in MPI_Init or MPI_Finalize, beside which no call is allowed. */
    if (!atomic_load_explicit(&profile_now.is_on, memory_order_relaxed) || profile_is_inside(frame))
        return false;
    profile_thread.frame = frame;
    profile_call_start(call, function, return_address);
    return true;
}

/* Takes the time: the call has returned. What it moved is told between the two. */
int64_t profile_call_over(struct profile_call *call);
void profile_call_end(struct profile_call *call, int64_t over_ns);

/* --- requests (profile_requests.c) --- */

/* What a completion took: the sum of its messages, and the start that came first. */
struct profile_completion {
    int count;
    uint64_t bytes;
    int64_t started_ns; /* 0: of no request that is known */
    int64_t inside_at_start_ns;
    const struct profile_thread *thread;
};

/* After profile_call_end(), so that the start's own time is not taken for slack. */
void profile_request_start(uint64_t key, uint64_t bytes);

/* A persistent request, inactive until profile_request_restart(); returns its bytes. */
void profile_request_make(uint64_t key, uint64_t bytes);
uint64_t profile_request_restart(uint64_t key);

/* It is complete: adds it to the completion. A persistent one stays. */
void profile_request_end(uint64_t key, struct profile_completion *completion);

/* MPI_Request_free. */
void profile_request_forget(uint64_t key);

/* How many are under way. */
int64_t profile_requests_active(void);

/* The slack of a wait, before profile_call_end(). */
void profile_wait_slack(struct profile_call *call, const struct profile_completion *completion);

#endif
