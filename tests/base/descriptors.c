/* SPDX-License-Identifier: MIT */
/* Claim: an own descriptor stands above the program's, works, and is forgotten
 * when closed. */
#include "base/descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include "claim.h"

int main(void)
{
    int ends[2];
    char byte = 0;
    base_descriptor_make_room();
    claim(!base_descriptor_is_own(1024) && fcntl(1024, F_GETFD) == -1, "room leaves nothing open");
    claim(pipe(ends) == 0, "a pipe");
    int own = base_descriptor_own(ends[0]);
    claim(own > ends[1] && base_descriptor_is_own(own), "moved up and remembered");
    claim(!base_descriptor_is_own(ends[0]) && !base_descriptor_is_own(-1), "no other is own");
    claim(open("/dev/null", O_RDONLY) == ends[0], "the low number is free again");
    claim(write(ends[1], "x", 1) == 1 && read(own, &byte, 1) == 1 && byte == 'x', "still the pipe's end");
    claim(fcntl(own, F_GETFD) & FD_CLOEXEC, "closed by exec");
    base_descriptor_close(own);
    claim(!base_descriptor_is_own(own) && fcntl(own, F_GETFD) == -1, "closed and forgotten");
    claim(base_descriptor_own(-1) == -1, "no descriptor stays none");
    return 0;
}
