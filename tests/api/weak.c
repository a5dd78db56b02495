/* SPDX-License-Identifier: MIT */
/* Prints which of some functions this process has, the way a program asks that
 * refers to them weakly: through code, and through a table in its data. */
#include <stdio.h>

extern int MPI_Send_c(void) __attribute__((weak));
extern int MPI_Status_get_source(void) __attribute__((weak));
extern int MPI_Abi_get_version(void) __attribute__((weak));
extern int MPI_Send(void) __attribute__((weak));

static int (*volatile table[])(void) = {MPI_Send_c, MPI_Status_get_source, MPI_Abi_get_version, MPI_Send};

int main(void)
{
    printf("%d%d%d%d", MPI_Send_c != NULL, MPI_Status_get_source != NULL, MPI_Abi_get_version != NULL,
           MPI_Send != NULL);
    for (int i = 0; i < 4; i++)
        printf(" %d", table[i] != NULL);
    printf("\n");
    return 0;
}
