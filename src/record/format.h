/* SPDX-License-Identifier: MIT */
/* The records of the ranks of one host: what the injected part writes and
 * python/lapwing/profile/record.py reads. Little-endian, packed by hand.
 * The file is in record_name_folder() (record/name.h). Ranks append to it, each
 * a frame and its record: a header, then `counter_count` counters, then
 * `reason_count` passes. Names and units stand in record.toml and
 * base/reasons.toml; a record carries its counts so that a reader can tell an
 * older or a newer writer. */
#ifndef RECORD_FORMAT_H
#define RECORD_FORMAT_H

#include <stdint.h>

#define RECORD_MAGIC "LAPWING" /* 8 bytes with its final zero */
enum { RECORD_VERSION = 1 };

#define RECORD_FRAME_MAGIC "LAPRANK" /* 8 bytes with its final zero */

/* 16 bytes. What is no frame, or whose check is wrong, was cut short: the next frame's magic is looked for. */
struct record_format_frame {
    char magic[8];
    uint32_t length_bytes; /* of the record */
    uint32_t check;        /* CRC-32 of the record */
};

/* 464 bytes; strings are zero-terminated, cut when too long. Earlier ones end with `notice`. */
struct record_format_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes; /* sizeof(struct record_format_header) */
    int32_t rank;          /* in MPI_COMM_WORLD; -1 when never known */
    int32_t size;          /* of MPI_COMM_WORLD; -1 when never known */
    uint32_t pid;
    uint32_t is_complete;   /* 1 when written by MPI_Finalize, or after it */
    uint32_t counter_count; /* uint64_t each */
    uint32_t reason_count;  /* struct record_format_pass each */
    uint64_t is_active;     /* 1 when ops were possible in this process */
    char host[64];
    char mpi_library[96];     /* path of the MPI library that was bound */
    char abi[16];             /* its name in mpi/abis.toml, or "none" */
    char hold[24];            /* hold backend in use, or "none" */
    char progress[16];        /* "event", "poll", "none" */
    char notice[64];          /* why Lapwing is off, or an option that it could not read, or "" */
    uint64_t started_unix_ns; /* return of MPI_Init, CLOCK_REALTIME */
    char program[64];         /* the name that it was started by, without folders */
    char launch[64];          /* what the launcher calls those that it started together, or "" */
};

struct record_format_pass {
    uint64_t calls;
    uint64_t bytes;
};

#endif
