/* SPDX-License-Identifier: MIT */
/* What programs do with memory that a device knows (device.h): rank 0 has it, rank 1 sends to it and receives from it.
 */
#ifndef DEVICE_PLAY_H
#define DEVICE_PLAY_H

#include "check.h"

enum { DEVICE_PLAY_BYTES = CHECK_LARGE_BYTES };

/* Does the device see these bytes? */
typedef bool device_play_sees_fn(const unsigned char *expected);

/* What main() is to return where the device knows nothing. */
static inline int device_play_skip(void)
{
    MPI_Finalize();
    return check_skip("a pipe cannot have a MiB of pages");
}

static inline void device_play_check(device_play_sees_fn *sees, unsigned char *expected, unsigned seed,
                                     const char *claim)
{
    if (sees == NULL)
        return;
    check_fill(expected, DEVICE_PLAY_BYTES, seed);
    check(sees(expected), claim);
}

static inline void device_play_own(unsigned char *buffer, unsigned char *expected, unsigned seed,
                                   device_play_sees_fn *sees)
{
    check_recv(buffer, DEVICE_PLAY_BYTES, 1, 0);
    device_play_check(sees, expected, seed, "what was received is where the device looks");
    check(check_is_filled(buffer, DEVICE_PLAY_BYTES, seed), "the message");
    check_send(buffer, DEVICE_PLAY_BYTES, 1, 0);
    check_fill(buffer, DEVICE_PLAY_BYTES, seed + 1);
    device_play_check(sees, expected, seed + 1, "what was written after a send is where the device looks");
}

/* One message to the memory, and one from it. sees: NULL where no device knows it yet. */
static inline void device_play_round(unsigned char *buffer, unsigned char *expected, unsigned seed,
                                     device_play_sees_fn *sees)
{
    if (check_rank() == 0) {
        device_play_own(buffer, expected, seed, sees);
        return;
    }
    check_send_late(buffer, DEVICE_PLAY_BYTES, seed, 0, 0);
    check_recv_late(buffer, DEVICE_PLAY_BYTES, seed, 0, 0, "what was sent");
}

#endif
