/* SPDX-License-Identifier: MIT */
/* MPI puts its addresses into the launcher's store, and then lets all ranks wait for each other there: only after that
 * is everything handed to all. So we stand before write(), see the line that begins this wait, and put our text in
 * before it: no further wait. What has no such line (MPICH 4.3 and later where all ranks are on one host) leaves
 * nothing behind.
 *
 * MPI must have begun: a second beginning is an error to Slurm (src/plugins/mpi/pmi2/agent.c), and what MPI speaks
 * shows in its own lines. PMI-1 is one line for each command; PMI-2 has a length in six characters before it, and
 * semicolons (MPICH, src/pmi/src/pmi_wire.c; Slurm, contribs/pmi2/pmi2_api.c). */
#include "job/pmi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/launch.h"
#include "base/text.h"
#include "job/fingerprint.h"
#include "job/offer.h"
#include "job/write_host.h"

enum {
    LINE_BYTES = 1024, /* of a command of ours or its answer, whose values are short */
    LENGTH_BYTES = 6,  /* of PMI-2's length */
};

static bool bytes_write(const char *bytes, size_t length)
{
    size_t left = length;
    while (left > 0) {
        ssize_t done = offer.write(offer.descriptor, bytes, left);
        if (done < 0 && errno != EINTR)
            return false;
        left -= done < 0 ? 0 : (size_t)done;
        bytes += done < 0 ? 0 : done;
    }
    return true;
}

/* So many, or to the end of the line. The launcher sends nothing but answers, so that no byte of another is taken. */
static bool bytes_read(char *bytes, size_t most, bool is_line)
{
    size_t length = 0;
    while (length < most) {
        ssize_t done = read(offer.descriptor, bytes + length, most - length);
        if (done == 0 || (done < 0 && errno != EINTR))
            return false;
        length += done < 0 ? 0 : (size_t)done;
        if (is_line && length > 0 && bytes[length - 1] == '\n') {
            bytes[length - 1] = '\0';
            return true;
        }
    }
    return !is_line;
}

static bool answer_read(char line[LINE_BYTES])
{
    if (offer.version == 1)
        return bytes_read(line, LINE_BYTES - 1, true);
    char length_text[LENGTH_BYTES + 1] = "";
    if (!bytes_read(length_text, LENGTH_BYTES, false))
        return false;
    long length = strtol(length_text, NULL, 10);
    bool is_read = length > 0 && length < LINE_BYTES && bytes_read(line, (size_t)length, false);
    line[is_read ? length : 0] = '\0';
    return is_read;
}

/* Of "cmd=get_result rc=0 value=x" the field rc is "0"; PMI-2 has a semicolon after each. False: there is none, or it
 * is too long. */
static bool field_read(const char *line, const char *name, char *value, size_t value_bytes)
{
    char sought[32];
    snprintf(sought, sizeof sought, "%c%s=", offer.version == 1 ? ' ' : ';', name);
    const char *found = strstr(line, sought);
    if (found == NULL)
        return false;
    found += strlen(sought);
    size_t length = strcspn(found, offer.version == 1 ? " " : ";");
    if (length >= value_bytes)
        return false;
    memcpy(value, found, length);
    value[length] = '\0';
    return true;
}

/* Gives a command, and reads the answer to it. */
static bool command_give(const char *command, const char *answer, char line[LINE_BYTES])
{
    char length_text[32];
    snprintf(length_text, sizeof length_text, "%*zu", LENGTH_BYTES, strlen(command));
    if (offer.version == 2 && !bytes_write(length_text, LENGTH_BYTES))
        return false;
    return bytes_write(command, strlen(command)) && answer_read(line) && base_text_begins(line, answer);
}

static bool has_field(const char *line, const char *name, const char *value)
{
    char found[16];
    return field_read(line, name, found, sizeof found) && strcmp(found, value) == 0;
}

static bool store_name_read(void)
{
    char line[LINE_BYTES];
    return command_give("cmd=get_my_kvsname\n", "cmd=my_kvsname", line) &&
           field_read(line, "kvsname", offer.store, sizeof offer.store);
}

static bool text_put_first(void)
{
    char line[LINE_BYTES];
    if (!store_name_read())
        return false;
    snprintf(line, sizeof line, "cmd=put kvsname=%s key=lapwing-%d value=%s\n", offer.store, offer.rank, offer.text);
    return command_give(line, "cmd=put_result", line) && has_field(line, "rc", "0");
}

static bool text_put_second(void)
{
    char line[LINE_BYTES];
    snprintf(line, sizeof line, "cmd=kvs-put;key=lapwing-%d;value=%s;", offer.rank, offer.text);
    return command_give(line, "cmd=kvs-put-response", line) && has_field(line, "rc", "0");
}

/* Which version's line begins the wait for all; 0: it is another, or one for a group of ranks (PMI 1.2, of MPICH 4.3).
 */
static int barrier_version(const char *bytes, size_t length)
{
    static const char first[] = "cmd=barrier_in\n";
    static const char second[] = "cmd=kvs-fence;";
    if (length >= sizeof first - 1 && memcmp(bytes, first, sizeof first - 1) == 0)
        return 1;
    bool is_second =
        length >= LENGTH_BYTES + sizeof second - 1 && memcmp(bytes + LENGTH_BYTES, second, sizeof second - 1) == 0;
    return is_second ? 2 : 0;
}

/* Only what comes before the first wait is certainly there for all after MPI_Init. */
static ssize_t write_with_offer(int descriptor, const void *bytes, size_t length)
{
    /* acquire: who has found this function finds what stood there before it (libc_real_set()) */
    atomic_thread_fence(memory_order_acquire);
    if (descriptor == offer.descriptor && offer.version == 0) {
        offer.version = barrier_version(bytes, length);
        if (offer.version != 0)
            offer.is_there = offer.version == 1 ? text_put_first() : text_put_second();
    }
    return offer.write(descriptor, bytes, length);
}

static bool descriptor_is_open(int descriptor)
{
    return descriptor > STDERR_FILENO && fcntl(descriptor, F_GETFD) != -1;
}

void pmi_offer(void)
{
    offer.descriptor = (int)base_launch_number("PMI_FD");
    offer.rank = (int)base_launch_number("PMI_RANK");
    if (offer.rank < 0 || base_launch_number("PMI_SIZE") <= 1 || !descriptor_is_open(offer.descriptor))
        return;
    offer.write = write_host.now(); /* before: other threads write, too */
    write_host.call(write_with_offer);
}

void pmi_end(void)
{
    if (offer.write != NULL)
        write_host.call(offer.write);
}

static bool text_get_first(int rank, char line[LINE_BYTES])
{
    snprintf(line, LINE_BYTES, "cmd=get kvsname=%s key=lapwing-%d\n", offer.store, rank);
    return command_give(line, "cmd=get_result", line) && has_field(line, "rc", "0");
}

static bool text_get_second(int rank, char line[LINE_BYTES])
{
    snprintf(line, LINE_BYTES, "cmd=kvs-get;srcid=-1;key=lapwing-%d;", rank);
    return command_give(line, "cmd=kvs-get-response", line) && has_field(line, "found", "TRUE");
}

bool pmi_is_same(int rank)
{
    char line[LINE_BYTES];
    char text[FINGERPRINT_BYTES];
    bool is_found = offer.version == 1 ? text_get_first(rank, line) : text_get_second(rank, line);
    return is_found && field_read(line, "value", text, sizeof text) && strcmp(text, offer.text) == 0;
}
