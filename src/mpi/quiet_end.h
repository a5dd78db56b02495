/* SPDX-License-Identifier: MIT */
/* The last thing that ranks do before MPI ends. */
#ifndef MPI_QUIET_END_H
#define MPI_QUIET_END_H

/* Where MPI_Finalize hangs if a rank is in it while another is still looking into MPI: waits for all ranks, and then a
 * moment. In MPI_Finalize, when the program can call MPI no more: behind all other functions that delete attributes of
 * MPI_COMM_SELF (MPI 4.1, 11.2.4). In a profile, which leaves that communicator as it is, right before MPI's own
 * MPI_Finalize. */
void quiet_end_wait(void);

#endif
