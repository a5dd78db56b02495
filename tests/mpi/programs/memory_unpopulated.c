/* SPDX-License-Identifier: MIT */
/* Claim: a receive into memory that was never written arrives, and its neighbours read as zero.
 * defers: receive
 * quick: openmpi4 mpich4 */
#include <sys/mman.h>

#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { LENGTH = 1 << 20 };
    unsigned char *room = mmap(NULL, 3 * LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (check_rank() == 1) {
        check_fill(room, LENGTH, 1);
        check_delay();
        check_send(room, LENGTH / 2, 0, 0); /* shorter than the room: some pages stay unpopulated */
        return check_end();
    }
    check_recv(room + LENGTH + 5, LENGTH, 1, 0);
    check(check_is_filled(room + LENGTH + 5, LENGTH / 2, 1), "the message arrived");
    for (size_t i = LENGTH + 5 + LENGTH / 2; i < 3 * LENGTH; i++)
        check(room[i] == 0, "what nobody wrote reads as zero");
    memset(room, 1, 3 * LENGTH);
    return check_end();
}
