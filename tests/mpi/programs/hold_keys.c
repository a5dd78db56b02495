/* SPDX-License-Identifier: MIT */
/* Claim: with --hold keys nothing is held where the processor has no protection keys, or the program has taken all of
 * them, nor under MPI_THREAD_MULTIPLE. Receives are passed, which the report says, and sends go from copies.
 * arguments: single taken multiple
 * environment: LAPWING_HOLD=keys
 * defers: send
 * passes: no_keys
 * quick: openmpi4 mpich4 signal-1 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "check.h"

enum { LENGTH = CHECK_LARGE_BYTES, ROUNDS = 10 };

int main(int argc, char **argv)
{
    int is_multiple = argc > 1 && strcmp(argv[1], "multiple") == 0;
    int are_taken = argc > 1 && strcmp(argv[1], "taken") == 0;
    while (are_taken && pkey_alloc(0, 0) >= 0)
        ;
    if (!is_multiple && !are_taken && check_has_keys()) {
        return check_skip("this processor has protection keys");
    }
    if (is_multiple)
        check_start_multiple(&argc, &argv);
    else
        check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(LENGTH);
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        if (check_rank() == 0) {
            check_fill(buffer, LENGTH, seed);
            check_send(buffer, LENGTH, 1, 0);
        } else {
            check_recv_late(buffer, LENGTH, seed, 0, 0, "the message");
        }
    }
    return check_end();
}
