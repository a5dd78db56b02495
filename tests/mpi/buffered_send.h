/* SPDX-License-Identifier: MIT */
/* MPI_Bsend of one element of a type to rank 1, by a buffer that is attached for it alone. */
#ifndef BUFFERED_SEND_H
#define BUFFERED_SEND_H

#include "check.h"

static void buffered_send(const void *message, MPI_Datatype type, int length)
{
    void *buffer = malloc(length);
    MPI_Buffer_attach(buffer, length);
    MPI_Bsend(message, 1, type, 1, 0, MPI_COMM_WORLD);
    MPI_Buffer_detach(&buffer, &length);
    free(buffer);
}

#endif
