/* SPDX-License-Identifier: MIT */
/* MPI_Probe, MPI_Mprobe, MPI_Improbe (MPI 4.1, 3.8), and what they matched. */
#ifndef MPI_MESSAGE_MESSAGE_PROBE_H
#define MPI_MESSAGE_MESSAGE_PROBE_H

#include <stdbool.h>

#include "abi.h"

/* MPI_Mprobe, testing the pending ops while it waits. */
int message_probe_match(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status);

/* The status with which the program got this message. False when nobody
 * remembers, or when there is no message (MPI_MESSAGE_NO_PROC). */
bool message_probe_recall(MPI_Message message, MPI_Status *status);

#endif
