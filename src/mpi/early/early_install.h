/* SPDX-License-Identifier: MIT */
/* Connects this folder with the calls (mpi/early.h). */
#ifndef MPI_EARLY_EARLY_INSTALL_H
#define MPI_EARLY_EARLY_INSTALL_H

/* Where option early_receive is on; before the first entry runs. */
void early_install_functions(void);

#endif
