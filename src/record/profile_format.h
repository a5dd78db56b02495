/* SPDX-License-Identifier: MIT */
/* The profile of one process: memory of a file that the process maps and writes into
 * while it runs, so that it is there however the process ends (docs/records.md). Read
 * by python/lapwing/profile/rank_file.py and host_file.py. Little-endian.
 *
 * The processes of one host share a file: a directory, then pieces. A piece belongs to
 * the process whose number stands in `owners`; its pieces in their order are its profile.
 *
 * A header, then blocks of 64 bytes, numbered from 0; block 0 is blank, so that 0
 * can mean "none". The first word of a block is its kind; modules and sites take
 * several blocks. A reader believes no more than `used_blocks` blocks.
 *
 * The file is in record_name_folder() (record/name.h). Times are nanoseconds of
 * CLOCK_MONOTONIC, or lengths of time; sizes are bytes. */
#ifndef RECORD_PROFILE_FORMAT_H
#define RECORD_PROFILE_FORMAT_H

#include <stdatomic.h>
#include <stdint.h>

#define PROFILE_MAGIC "LAPPROF" /* 8 bytes with its final zero */
enum { PROFILE_VERSION = 3, PROFILE_BLOCK_BYTES = 64 };

#define PROFILE_HOST_MAGIC "LAPHOST" /* 8 bytes with its final zero */
enum { PROFILE_HOST_VERSION = 1 };
enum { PROFILE_PIECE_BYTES = 65536, PROFILE_DIRECTORY_BYTES = 262144, PROFILE_PIECES_MAX = 65528 };

/* piece_count: that were asked for; room may have been missing. Processes are numbered from 1; a piece without an owner
 * holds nothing. */
struct profile_format_directory {
    char magic[8];
    uint32_t version;
    uint32_t piece_bytes;
    _Atomic uint32_t piece_count;
    _Atomic uint32_t process_count;
    uint32_t spare[2];
    _Atomic uint32_t owners[PROFILE_PIECES_MAX];
};

/* `state`: how the process ended. One that died without a word is still running. */
enum profile_format_state { PROFILE_RUNNING = 0, PROFILE_FINALIZED = 1, PROFILE_EXITED = 2 };

/* Whether receives would wait for their messages to be announced (`--match`). Records of older versions do not say. */
enum profile_format_matching { PROFILE_MATCHING_UNKNOWN = 0, PROFILE_MATCHES_LATER = 1, PROFILE_MATCHES_FIRST = 2 };

/* 512 bytes. What is atomic changes while the program runs, by any thread. */
struct profile_format_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes;
    uint32_t block_bytes;
    _Atomic uint32_t state;
    int32_t rank; /* in MPI_COMM_WORLD */
    int32_t size; /* of MPI_COMM_WORLD */
    uint32_t pid;
    _Atomic uint32_t has_threads; /* 1 when several threads called MPI */
    _Atomic uint32_t used_blocks;
    uint32_t core_count;            /* cores that the process may use */
    uint64_t started_unix_ns;       /* CLOCK_REALTIME at started_ns: to align the ranks */
    uint64_t started_ns;            /* return of MPI_Init */
    _Atomic uint64_t ended_ns;      /* entry of MPI_Finalize; before, the return of the last call */
    _Atomic uint64_t covered_ns;    /* outside MPI while an operation of the program was pending */
    _Atomic uint64_t lost_calls;    /* calls that found no block for their site: they are nowhere else */
    _Atomic uint64_t lost_requests; /* requests whose start was forgotten */
    _Atomic uint64_t watch_count;
    _Atomic uint64_t watch_cost_ns; /* time that watching buffers took */
    char host[64];
    char mpi_library[256];
    char abi[16];
    uint32_t online_count; /* cores of the host; 0 in records of older versions */
    uint32_t matching;     /* enum profile_format_matching */
    char spare[56];
};

enum profile_format_kind {
    PROFILE_BLANK = 0,
    PROFILE_NAME = 1,   /* an MPI function that some site calls */
    PROFILE_MODULE = 2, /* a loaded file that some address may lie in */
    PROFILE_SITE = 3,
    PROFILE_SIZE = 4, /* the rest: cells of a site, a list from its `first_cell` */
    PROFILE_SLACK = 5,
    PROFILE_TOUCH = 6,
    PROFILE_PEER = 7,
    PROFILE_PASS = 8,
    PROFILE_EVENTS = 9, /* the timeline: a header block, then events */
    /* Cells of the picture of a run (profile/picture.h), which has no profile. */
    PROFILE_OP = 10,
    PROFILE_TOUCHED = 11,
    PROFILE_REDUCED = 12, /* two more cells of a site */
    PROFILE_HELD = 13,    /* since version 2 */
    PROFILE_WAY = 14,     /* these two since version 3 */
    PROFILE_ROW = 15
};

struct profile_format_name {
    uint32_t kind;
    uint32_t function; /* the number that sites use */
    char name[56];
};

/* The path goes on into the following blocks. */
struct profile_format_module {
    uint32_t kind;
    uint32_t block_count;
    uint64_t base; /* address minus base = address in the file's symbols */
    uint64_t low;  /* of its code */
    uint64_t high;
    uint32_t path_length;
    char path[28];
};

struct profile_format_moments {
    _Atomic uint64_t count;
    _Atomic uint64_t total;
    _Atomic uint64_t minimum;
    _Atomic uint64_t maximum;
};

/* One call site of one function: three blocks. */
struct profile_format_site {
    uint32_t kind;
    uint32_t function;
    uint64_t address; /* return address of the call; 0: the calls that found no site of their own */
    struct profile_format_moments time;
    struct profile_format_moments bytes;  /* calls that move a message */
    struct profile_format_moments before; /* since this thread's previous MPI call returned */
    _Atomic uint32_t first_cell;
    _Atomic uint32_t full_kinds;    /* bit n: some cell of kind n found no room, and is missing */
    _Atomic uint64_t sampled_count; /* slack: samples, their wall time, those that ended untouched */
    _Atomic uint64_t wall_total_ns;
    _Atomic uint64_t censored_count;
    _Atomic uint64_t watch_tried_count;   /* buffers that should have been watched */
    _Atomic uint64_t watch_refused_count; /* of those, how many could not be */
    _Atomic uint64_t next_watch_ns;       /* working state: not before */
    _Atomic uint64_t large_count;         /* calls whose message could be watched */
    _Atomic uint64_t rested_count;        /* working state: calls that came before next_watch_ns, */
    _Atomic uint64_t put_off_count;       /* and how many more go by before the next sample */
};

/* kind   key               count    first         second      minimum
 * SIZE   binary digits     calls    bytes         time        least time
 * SLACK  binary digits     samples  computation
 * TOUCH  code address      touches  wall time
 * PEER   world rank        calls    bytes
 * PASS   enum reason       calls
 * REDUCED 1: any order gives the same bits; 0  calls
 * HELD   enum reason       calls: that a run could not return from early for this reason; of none: it could
 * WAY    1: received; 0     messages large enough to be watched, bytes
 * ROW    0                 samples  bytes         of these, those that would travel at once with messages behind the
 *                                                 call (of samples that a run could return early from)
 * OP     0                 ops      overlapped    under way
 * TOUCHED 0                ops      until touch   wait at it */
struct profile_format_cell {
    uint32_t kind;
    _Atomic uint32_t next;
    _Atomic int64_t key;
    _Atomic uint64_t count;
    _Atomic uint64_t first;
    _Atomic uint64_t second;
    _Atomic uint64_t minimum;
    uint64_t spare[2];
};

/* `block_count` blocks with this one. Event n stands at place n modulo `capacity`. */
struct profile_format_events {
    uint32_t kind;
    uint32_t block_count;
    uint32_t capacity;
    uint32_t spare;
    _Atomic uint64_t count; /* events so far: the oldest are overwritten */
    uint64_t engine_end;    /* count after the engine's last event; the engine's thread alone */
    uint64_t more_spare[4];
};

enum profile_format_event_kind {
    PROFILE_EVENT_CALL = 1,  /* one MPI call */
    PROFILE_EVENT_SLACK = 2, /* from a call's return to the touch, or from a start to its wait */
    /* Of the picture of a run: */
    PROFILE_EVENT_OP = 3,        /* from a call's early return until its data were there, or gone */
    PROFILE_EVENT_ANNOUNCED = 4, /* its message was matched; no length */
    PROFILE_EVENT_TOUCH = 5,     /* from the touch until the memory was given back */
    PROFILE_EVENT_RELEASE = 6,   /* giving the memory back */
    PROFILE_EVENT_ENGINE = 7     /* the engine was awake, with pauses below a millisecond; no site */
};

struct profile_format_event {
    uint64_t start_ns;
    uint64_t length_ns;
    uint32_t site; /* its block */
    uint32_t kind;
    uint64_t bytes;
};

#endif
