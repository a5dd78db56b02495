/* SPDX-License-Identifier: MIT */
/* Claim: a library that the program has linked finds what comes after it, though its constructor runs before ours. */
#include <errno.h>
#include <unistd.h>

int main(void)
{
    return close(-1) == -1 && errno == EBADF ? 0 : 1;
}
