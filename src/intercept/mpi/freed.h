/* SPDX-License-Identifier: MIT */
/* Requests that the program freed while they were active (MPI 4.1, 3.7.3): their
 * operations go on, and MPI goes on using their bytes. */
#ifndef INTERCEPT_MPI_FREED_H
#define INTERCEPT_MPI_FREED_H

/* MPI_Finalize is near: MPI gets them all. */
void freed_requests_give_up(void);

#endif
