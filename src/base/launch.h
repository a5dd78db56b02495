/* SPDX-License-Identifier: MIT */
/* What launchers tell their ranks in the environment. */
#ifndef BASE_LAUNCH_H
#define BASE_LAUNCH_H

#include <stdbool.h>

/* A count or a number of something that the launcher gives: never negative; -1 when nobody says, or nonsense. */
long base_launch_number(const char *name);

/* This process's rank as its launcher tells it, before MPI begins; NULL when none does. */
const char *base_launch_rank(void);

/* The name of the variable that tells it, which all ranks of this launcher have; NULL when none does. */
const char *base_launch_rank_variable(void);

/* Has a launcher told MPI in which job this process is? (Slurm's own variables are in its batch scripts, too.) */
bool base_launch_is_of_job(void);

/* Whether a list such as "0, 4-7" has the number; blanks may be around commas and dashes. What cannot be read has
 * none. */
bool base_launch_list_has(const char *list, long number);

/* How many ranks share this host: Open MPI, Hydra, PRRTE, PALS, Cray PMI, Slurm, Flux. 0 when nobody says. */
long base_launch_local_ranks(void);

#endif
