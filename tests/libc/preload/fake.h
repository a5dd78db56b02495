/* SPDX-License-Identifier: MIT */
#ifndef FAKE_H
#define FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_EXPORT __attribute__((visibility("default")))

struct fake_notes {
    uintptr_t low; /* the last wait that concerned the held memory */
    uintptr_t high;
    bool is_read;
    int range_waits;
    int all_waits;
    int socket_count;
    int socket_last;
    int hide_count;
    int forked_count;
    int watcher_count;
    int bypass_count;
    int key_count;
    int change_count;
    int registration_count;
    int deferring_count;
    int forks_begun;
    int forks_ended;
    int several_threads;
    int left_count;
    int opened_count;    /* times that a thread unblocked SIGSEGV */
    bool shares_signals; /* set by the test: SIGSEGV belongs to the protect layer */
    int *exit_word;      /* set by the test: in shared memory, counts the exits */
};

extern struct fake_notes fake_notes FAKE_EXPORT;

/* Takes the rights away, and arms unless the test wants to see what happens
 * when nobody waits. Clears the notes. */
void fake_hold(void *address, size_t length_bytes, int rights, bool is_armed) FAKE_EXPORT;
void fake_release(void) FAKE_EXPORT;

/* What is done before a message is held. */
void fake_look_at_threads(void) FAKE_EXPORT;

/* What MPI_Init does where threads are there before it; may these bytes lie on the stack of a thread? A mapping is one
 * byte here. */
void fake_enter_existing_threads(void) FAKE_EXPORT;
bool fake_is_on_stack(const void *address, size_t length_bytes) FAKE_EXPORT;

/* As by full userfaultfd: system calls on held memory do not fail, they wait in the kernel. */
void fake_let_calls_wait(void) FAKE_EXPORT;

/* Sets the option drain_system_calls. */
void fake_drain(bool is_on) FAKE_EXPORT;

/* Makes a descriptor one of Lapwing's own; returns its number. */
int fake_own(int descriptor) FAKE_EXPORT;

#endif
