/* SPDX-License-Identifier: MIT */
#include "mpi/progress.h"

#include <stddef.h>

#include "abi.h"
#include "base/lock.h"
#include "mpi/real.h"
#include "op/session.h"

enum { PROGRESS_TAG = 0 };

/* A communicator of one process, and on it a receive that nobody sends to until
 * the end. (Not MPI_Iprobe: MPICH 4.0's does not drive the schedules of
 * nonblocking collectives.) Made by a thread of the program inside MPI; tested
 * inside the gate. */
static struct {
    struct base_lock making;
    bool is_ready;
    MPI_Comm comm;
    MPI_Request request;
} own;

/* MPI_Comm_dup would copy the program's attributes of MPI_COMM_SELF, and call its
 * functions for that (MPI-4.1, 7.7.2); so would MPI_Comm_create_group on Open MPI 4.1
 * and 5.0. Another thread may be in a collective call on MPI_COMM_SELF meanwhile: with
 * one process there are no messages to mix up. */
static bool progress_make(void)
{
    if (real.MPI_Comm_split(abi_handles.comm_self, 0, 0, &own.comm) != MPI_SUCCESS)
        return false;
    real.MPI_Comm_set_errhandler(own.comm, abi_handles.errors_return);
    if (real.MPI_Irecv(NULL, 0, abi_handles.byte, PROGRESS_RANK, PROGRESS_TAG, own.comm, &own.request) == MPI_SUCCESS)
        return true;
    real.MPI_Comm_free(&own.comm);
    return false;
}

/* Under MPI_THREAD_MULTIPLE several threads may be here: one of them makes it. */
bool progress_prepare(void)
{
    base_lock_take(&own.making);
    if (!own.is_ready)
        own.is_ready = progress_make();
    bool is_ready = own.is_ready;
    base_lock_release(&own.making);
    return is_ready;
}

void progress_poll(void)
{
    int is_over;
    /* The program has given MPI functions to call since: only its own threads may run them. */
    if (session_reason() == REASON_NONE)
        real.MPI_Test(&own.request, &is_over, MPI_STATUS_IGNORE);
}

MPI_Comm progress_comm(void)
{
    return own.comm;
}

int progress_copy(struct progress_copied from, struct progress_copied to)
{
    return real.MPI_Sendrecv(from.buffer, from.count, from.type, PROGRESS_RANK, PROGRESS_COPY_TAG, to.buffer, to.count,
                             to.type, PROGRESS_RANK, PROGRESS_COPY_TAG, own.comm, MPI_STATUS_IGNORE);
}

void progress_finish(bool is_needed)
{
    if (!own.is_ready)
        return;
    own.is_ready = false;
    real.MPI_Send(NULL, 0, abi_handles.byte, PROGRESS_RANK, PROGRESS_TAG, own.comm);
    real.MPI_Wait(&own.request, MPI_STATUS_IGNORE);
    if (!is_needed)
        real.MPI_Comm_free(&own.comm);
}
