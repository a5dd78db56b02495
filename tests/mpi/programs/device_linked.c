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
#include "device_play.h"

enum { ROUNDS = 3 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(DEVICE_PLAY_BYTES);
    unsigned char *expected = malloc(DEVICE_PLAY_BYTES);
    int is_known = check_rank() != 0 || cudaHostRegister(buffer, DEVICE_PLAY_BYTES, 0) == 0;
    MPI_Bcast(&is_known, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!is_known)
        return device_play_skip();
    for (unsigned seed = 0; seed < ROUNDS; seed++)
        device_play_round(buffer, expected, seed, runtime_sees);
    return check_end();
}
#endif
