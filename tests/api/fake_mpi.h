/* SPDX-License-Identifier: MIT */
#ifndef TESTS_API_FAKE_MPI_H
#define TESTS_API_FAKE_MPI_H

int MPI_Init(int *argc, char ***argv);
int MPI_Pcontrol(const int level, ...);
double MPI_Wtime(void);
int MPI_Comm_rank(int comm, int *rank);

#endif
