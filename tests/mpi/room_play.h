/* SPDX-License-Identifier: MIT */
/* A program whose attached buffer has room for one message: rank 0 takes rank 1's answer as proof that there is room
 * for the next one (MPI 4.1, 3.6). */
#ifndef ROOM_PLAY_H
#define ROOM_PLAY_H

#include "check.h"

enum { ROOM_PLAY_MAX = 80 };

/* A buffered send to rank 1, tag 0. */
typedef void room_play_send_fn(unsigned char *buffer, int length);

static inline void room_play_from(room_play_send_fn *send, unsigned char *buffer, int length, unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++) {
        check_fill(buffer, (size_t)length, round);
        send(buffer, length);
        check_recv(&(char){0}, 1, 1, 1);
    }
}

static inline void room_play_to(unsigned char *buffers[], int length, unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++) {
        check_recv(buffers[round], (size_t)length, 0, 0);
        check_send(&(char){0}, 1, 0, 1);
    }
    for (unsigned round = 0; round < rounds; round++)
        check(check_is_filled(buffers[round], (size_t)length, round), "the message as it was sent");
}

/* Both ranks, after MPI_Init; at most ROOM_PLAY_MAX rounds. */
static inline void room_play(room_play_send_fn *send, int length, unsigned rounds)
{
    int attached_length = length + MPI_BSEND_OVERHEAD;
    unsigned char *buffers[ROOM_PLAY_MAX], *attached = check_buffer_new((size_t)attached_length);
    for (unsigned round = 0; round < rounds; round++)
        buffers[round] = check_buffer_new((size_t)length);
    MPI_Buffer_attach(attached, attached_length);
    if (check_rank() == 0)
        room_play_from(send, buffers[0], length, rounds);
    else
        room_play_to(buffers, length, rounds);
    MPI_Buffer_detach(&attached, &attached_length);
}

#endif
