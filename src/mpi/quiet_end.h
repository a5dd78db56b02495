/* SPDX-License-Identifier: MIT */
/* The last thing that ranks do before MPI ends. */
#ifndef MPI_QUIET_END_H
#define MPI_QUIET_END_H

/* Where MPI_Finalize hangs if a rank is in it while another is still looking into MPI: lets each rank wait for all, and
 * then a moment, in MPI_Finalize, when the program can call MPI no more. That is behind all other functions that delete
 * attributes of MPI_COMM_SELF (MPI 4.1, 11.2.4), so this comes in MPI_Init, before the program sets one. */
void quiet_end_start(void);

#endif
