/* SPDX-License-Identifier: MIT */
/* Claim: messages are right in memory of huge pages.
 * quick: openmpi4 mpich4 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "check.h"

enum { LENGTH = 1 << 21 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer =
        mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    if (buffer == MAP_FAILED) {
        puts("this machine gives no huge pages");
        MPI_Finalize();
        return 77;
    }
    for (unsigned i = 0; i < 5; i++)
        check_echo(buffer, LENGTH, i);
    return check_end();
}
