/* SPDX-License-Identifier: MIT */
#include "record/record.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "record/name.h"

_Static_assert(sizeof(struct record_format_header) == 328, "the reader counts on this size");

struct record record;

static void record_collect(uint64_t counters[], struct record_format_pass passes[])
{
    for (int i = 0; i < RECORD_COUNTER_COUNT; i++)
        counters[i] = atomic_load_explicit(&record.counters[i], memory_order_relaxed);
    for (int i = 0; i < REASON_COUNT; i++) {
        passes[i].calls = atomic_load_explicit(&record.pass_calls[i], memory_order_relaxed);
        passes[i].bytes = atomic_load_explicit(&record.pass_bytes[i], memory_order_relaxed);
    }
}

static bool record_write_file(const char *path, struct record_format_header *header)
{
    uint64_t counters[RECORD_COUNTER_COUNT];
    struct record_format_pass passes[REASON_COUNT];
    struct iovec parts[] = {{header, sizeof *header}, {counters, sizeof counters}, {passes, sizeof passes}};
    size_t length_bytes = sizeof *header + sizeof counters + sizeof passes;

    record_collect(counters, passes);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    bool is_whole = writev(file, parts, 3) == (ssize_t)length_bytes;
    return close(file) == 0 && is_whole;
}

bool record_write(const char *directory, const struct record_format_header *identity)
{
    struct record_format_header header = *identity;

    memcpy(header.magic, RECORD_MAGIC, sizeof header.magic);
    header.version = RECORD_VERSION;
    header.header_bytes = sizeof header;
    header.counter_count = RECORD_COUNTER_COUNT;
    header.reason_count = REASON_COUNT;
    if (!record_name_make(record.path, sizeof record.path, directory, header.rank, "rank"))
        return false;
    snprintf(record.temporary, sizeof record.temporary, "%s.part", record.path);
    if (record_write_file(record.temporary, &header) && rename(record.temporary, record.path) == 0)
        return true;
    unlink(record.temporary);
    return false;
}
