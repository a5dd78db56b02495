/* SPDX-License-Identifier: MIT */
#include "record/record.h"

#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "record/name.h"
#include "record/file.h"

_Static_assert(sizeof(struct record_format_header) == 464, "the reader counts on this size");
_Static_assert(sizeof(struct record_format_frame) == 16, "so it does on this one");

struct record record;

/* What follows the header. */
struct record_body {
    uint64_t counters[RECORD_COUNTER_COUNT];
    struct record_format_pass passes[REASON_COUNT];
};

static void record_collect(struct record_body *body)
{
    for (int i = 0; i < RECORD_COUNTER_COUNT; i++)
        body->counters[i] = atomic_load_explicit(&record.counters[i], memory_order_relaxed);
    for (int i = 0; i < REASON_COUNT; i++) {
        body->passes[i].calls = atomic_load_explicit(&record.pass_calls[i], memory_order_relaxed);
        body->passes[i].bytes = atomic_load_explicit(&record.pass_bytes[i], memory_order_relaxed);
    }
}

/* CRC-32, as zlib has it. */
static uint32_t check_add(uint32_t check, const void *bytes, size_t length_bytes)
{
    enum { BITS = 8 };
    const uint32_t polynomial = 0xEDB88320;
    for (size_t i = 0; i < length_bytes; i++) {
        check ^= ((const unsigned char *)bytes)[i];
        for (int bit = 0; bit < BITS; bit++)
            check = (check >> 1) ^ (check & 1 ? polynomial : 0);
    }
    return check;
}

/* What other ranks of the host may append between the look and the write. */
enum { MARGIN_BYTES = 1 << 20 };

static bool record_is_appended(int file, const struct iovec parts[], int count, size_t length_bytes,
                               size_t margin_bytes)
{
    return record_file_is_fit(file, length_bytes + margin_bytes) && writev(file, parts, count) == (ssize_t)length_bytes;
}

/* One call for the whole record: the kernel lets the ranks of a host append to their file one after the other. What a
 * full disk cuts short readers find by its frame. */
static bool record_append(const char *path, const struct record_format_header *header, size_t margin_bytes)
{
    struct record_body body;
    record_collect(&body);
    struct record_format_frame frame = {.length_bytes = sizeof *header + sizeof body};
    memcpy(frame.magic, RECORD_FRAME_MAGIC, sizeof frame.magic);
    frame.check = ~check_add(check_add(~0U, header, sizeof *header), &body, sizeof body);
    struct iovec parts[] = {{&frame, sizeof frame}, {(void *)header, sizeof *header}, {&body, sizeof body}};

    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    bool is_whole = record_is_appended(file, parts, 3, sizeof frame + frame.length_bytes, margin_bytes);
    return close(file) == 0 && is_whole;
}

static bool shared_append(const char *directory, const struct record_format_header *header)
{
    return record_name_of_host(record.path, sizeof record.path, directory, "ranks") &&
           record_append(record.path, header, MARGIN_BYTES);
}

/* Where it is not known which host this is, or its file takes no more. */
static bool own_append(const char *directory, const struct record_format_header *header)
{
    return record_name_make(record.path, sizeof record.path, directory, header->rank, "ranks") &&
           record_append(record.path, header, 0);
}

bool record_write(const char *directory, const struct record_format_header *identity)
{
    struct record_format_header header = *identity;

    memcpy(header.magic, RECORD_MAGIC, sizeof header.magic);
    header.version = RECORD_VERSION;
    header.header_bytes = sizeof header;
    header.counter_count = RECORD_COUNTER_COUNT;
    header.reason_count = REASON_COUNT;
    return shared_append(directory, &header) || own_append(directory, &header);
}
