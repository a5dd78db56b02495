/* SPDX-License-Identifier: MIT */
/* Claim: read(), write(), fread() and fwrite() on pending buffers wait for the data.
 * defers: send receive
 * quick: openmpi4 */
#include <unistd.h>

#include "check.h"

/* The file holds, or is to hold, CHECK_LARGE_BYTES of pattern 7. */
typedef void touch_fn(FILE *file, unsigned char *buffer);

static void touch_write(FILE *file, unsigned char *buffer)
{
    check(write(fileno(file), buffer, CHECK_LARGE_BYTES) == CHECK_LARGE_BYTES, "write() of a pending buffer");
}

static void touch_fwrite(FILE *file, unsigned char *buffer)
{
    check(fwrite(buffer, 1, CHECK_LARGE_BYTES, file) == CHECK_LARGE_BYTES, "fwrite() of a pending buffer");
    check(fflush(file) == 0, "flushing it");
}

static void touch_read(FILE *file, unsigned char *buffer)
{
    check(read(fileno(file), buffer, CHECK_LARGE_BYTES) == CHECK_LARGE_BYTES, "read() into a pending buffer");
}

static void touch_fread(FILE *file, unsigned char *buffer)
{
    check(fread(buffer, 1, CHECK_LARGE_BYTES, file) == CHECK_LARGE_BYTES, "fread() into a pending buffer");
}

/* read() must come after the message: what the file holds wins. */
static void touch_read_over(FILE *file, unsigned char *buffer)
{
    unsigned char *pattern = malloc(CHECK_LARGE_BYTES);
    check_fill(pattern, CHECK_LARGE_BYTES, 8);
    check(pwrite(fileno(file), pattern, CHECK_LARGE_BYTES, 0) == CHECK_LARGE_BYTES, "filling the file");
    free(pattern);
    touch_read(file, buffer);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 8), "read() came after the message");
    check_fill(buffer, CHECK_LARGE_BYTES, 7);
    check(pwrite(fileno(file), buffer, CHECK_LARGE_BYTES, 0) == CHECK_LARGE_BYTES, "the file as the caller expects it");
}

/* Rank 0 receives pattern 7 and touches it at once: the file then holds it. */
static void touch_received(unsigned char *buffer, touch_fn *touch)
{
    if (check_rank() == 1) {
        check_send_late(buffer, CHECK_LARGE_BYTES, 7, 0, 0);
        return;
    }
    FILE *file = tmpfile();
    memset(buffer, 0xEE, CHECK_LARGE_BYTES);
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    touch(file, buffer);
    memset(buffer, 0, CHECK_LARGE_BYTES);
    check(pread(fileno(file), buffer, CHECK_LARGE_BYTES, 0) == CHECK_LARGE_BYTES, "reading the file back");
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 7), "the file holds the message");
    fclose(file);
}

/* Rank 0 sends pattern 9 and reads a file of pattern 7 over it at once. */
static void touch_sent(unsigned char *buffer, touch_fn *touch)
{
    if (check_rank() == 1) {
        check_recv_late(buffer, CHECK_LARGE_BYTES, 9, 0, 0, "the message as it was at the send");
        return;
    }
    FILE *file = tmpfile();
    check_fill(buffer, CHECK_LARGE_BYTES, 7);
    check(pwrite(fileno(file), buffer, CHECK_LARGE_BYTES, 0) == CHECK_LARGE_BYTES, "filling the file");
    check_fill(buffer, CHECK_LARGE_BYTES, 9);
    check_send(buffer, CHECK_LARGE_BYTES, 1, 0);
    touch(file, buffer);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 7), "the buffer holds the file");
    fclose(file);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    touch_received(buffer, touch_write);
    touch_received(buffer, touch_fwrite);
    touch_sent(buffer, touch_read);
    touch_sent(buffer, touch_fread);
    touch_received(buffer, touch_read_over);
    return check_end();
}
