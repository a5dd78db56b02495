/* SPDX-License-Identifier: MIT */
/* The fuzzer's machine: executes one rank's part of random MPI programs and
 * digests all that a program can see. Plain MPI: nothing here knows of Lapwing.
 * An instruction is a name and whole numbers; tests/fuzz/language.py lists them. */
#ifndef MACHINE_H
#define MACHINE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BUFFERS_MAX = 512,
    REQUESTS_MAX = 64,
    STATUSES_MAX = 32,
    TYPES_MAX = 80,
    COMMS_MAX = 16,
    MATCHED_MAX = 8,
    ARGUMENTS_MAX = 160,
    MACHINE_STACK_BYTES = 1 << 20,
    BUILTIN_COUNT = 16, /* types that always exist, see types_begin() */
    PEER_ANY = -1,      /* how programs write MPI_ANY_SOURCE */
    PEER_NULL = -2,     /* ... and MPI_PROC_NULL */
    PEER_ROOT = -3,     /* ... and MPI_ROOT */
    TAG_ANY = -1,       /* ... and MPI_ANY_TAG */
    STATUS_IGNORED = -1 /* ... and MPI_STATUS_IGNORE */
};

typedef void instruction_fn(const int64_t *arguments);

struct instruction {
    const char *name;
    instruction_fn *run;
};

/* What most calls take; seven words in a program. */
struct message {
    void *bytes;
    int count;
    int type_index;
    MPI_Datatype type;
    int peer;
    int tag;
    MPI_Comm comm;
};

enum { MESSAGE_WORDS = 7 };

extern int machine_rank;
extern _Thread_local bool machine_is_traced; /* in the first thread only: lines of two would mix */

/* All that was seen so far by this thread, in order. */
extern _Thread_local uint64_t machine_digest;
void machine_observe(uint64_t seen);
void machine_observe_bytes(const void *bytes, size_t length_bytes);
void machine_observe_result(int result); /* an error counts by its class */

/* The program makes no sense: ends the job with exit code 3. */
_Noreturn void machine_refuse(const char *why);

instruction_fn *machine_find(const char *name);

void memory_stack_set(unsigned char *bytes); /* MACHINE_STACK_BYTES of a frame that stays */
void memory_begin(void);
void memory_end(void); /* observes and frees what is left */
unsigned char *memory_at(int64_t buffer, int64_t offset);

extern MPI_Datatype types_table[TYPES_MAX];
extern bool types_is_mixed[TYPES_MAX]; /* MPICH 4.0's MPI_Get_elements divides by zero for structs of two types */
void types_begin(void);
void types_end(void);

extern MPI_Comm comms_table[COMMS_MAX];
void comms_begin(void);
void comms_end(void);

struct message message_read(const int64_t *words);
int message_peer(int64_t word);
int message_tag(int64_t word);

void statuses_clear(MPI_Status *list, size_t count);

/* Where a call puts its status; filled with a known byte first. */
MPI_Status *statuses_take(int64_t status);
void statuses_observe(const MPI_Status *status, int64_t type);
void statuses_begin(void);

/* The slot of a request that is to be started; `type` of a receive, else -1. */
MPI_Request *requests_take(int64_t slot, int64_t type);
void requests_begin(void);

void helper_start(instruction_fn *run, const int64_t *arguments, int count);
void helper_end(void);

extern const struct instruction memory_instructions[];
extern const struct instruction message_instructions[];
extern const struct instruction request_instructions[];
extern const struct instruction collective_instructions[];
extern const struct instruction type_instructions[];

#endif
