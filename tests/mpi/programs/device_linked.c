/* SPDX-License-Identifier: MIT */
/* Claim: a program that is linked with a runtime, a stand-in, and makes memory known to a device finds there, as soon
 * as a receive has returned, what was received, and after a send what it writes then.
 * library: yes
 * passes: memory_device
 * quick: openmpi4 userfaultfd */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stddef.h>

int cudaHostRegister(void *memory, size_t length_bytes, unsigned flags); /* as in cuda_runtime_api.h */
bool runtime_sees(const unsigned char *expected);

#ifdef LIBRARY
#include "device.h"

int cudaHostRegister(void *memory, size_t length_bytes, unsigned flags)
{
    return flags == 0 && device_know(memory, length_bytes) ? 0 : 1;
}

bool runtime_sees(const unsigned char *expected)
{
    return device_sees(expected);
}
#else
#include "check.h"

enum { LENGTH = CHECK_LARGE_BYTES, ROUNDS = 3 };

static int device_skip(void)
{
    MPI_Finalize();
    return check_skip("a pipe cannot have a MiB of pages");
}

static void device_check(unsigned char *expected, unsigned seed, const char *claim)
{
    check_fill(expected, LENGTH, seed);
    check(runtime_sees(expected), claim);
}

static void round_play(unsigned char *buffer, unsigned char *expected, unsigned seed)
{
    check_recv(buffer, LENGTH, 1, 0);
    device_check(expected, seed, "what was received is where the device looks");
    check_send(buffer, LENGTH, 1, 0);
    check_fill(buffer, LENGTH, seed + 1);
    device_check(expected, seed + 1, "what was written after a send is where the device looks");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(LENGTH);
    unsigned char *expected = malloc(LENGTH);
    int is_known = check_rank() != 0 || cudaHostRegister(buffer, LENGTH, 0) == 0;
    MPI_Bcast(&is_known, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!is_known)
        return device_skip();
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        if (check_rank() == 0) {
            round_play(buffer, expected, seed);
            continue;
        }
        check_send_late(buffer, LENGTH, seed, 0, 0);
        check_recv_late(buffer, LENGTH, seed, 0, 0, "what was sent");
    }
    return check_end();
}
#endif
