/* SPDX-License-Identifier: MIT */
/* Claim: a stream whose buffer lies beside a message's loses nothing.
 * quick: openmpi4 */
#include <unistd.h>

#include "check.h"

enum { LINES = 2060 }; /* 32 bytes each: the last ones lie on the page that the message begins on */

static struct {
    char stream[66000];
    unsigned char message[CHECK_LARGE_BYTES];
} shared __attribute__((aligned(4096)));

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    FILE *file = tmpfile();
    setvbuf(file, shared.stream, _IOFBF, sizeof shared.stream);
    for (int i = 0; i < 4; i++) {
        if (check_rank() == 1) {
            check_send_late(shared.message, CHECK_LARGE_BYTES, i, 0, 0);
            continue;
        }
        for (int line = 0; line < LINES; line++)
            fprintf(file, "%31d\n", line);
        check_recv(shared.message, CHECK_LARGE_BYTES, 1, 0);
        check(fflush(file) == 0, "writing the stream's buffer out");
        check(check_is_filled(shared.message, CHECK_LARGE_BYTES, i), "the message");
        check(lseek(fileno(file), 0, SEEK_END) == (i + 1) * 32 * LINES, "the file holds every line");
    }
    return check_end();
}
