/* SPDX-License-Identifier: MIT */
#include "libc/own.h"

#include <sys/mman.h>

#include "libc/real.h"

void *libc_own_take(size_t length_bytes)
{
    void *memory = LIBC_REAL(mmap)(NULL, length_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void libc_own_give_back(void *memory, size_t length_bytes)
{
    LIBC_REAL(munmap)(memory, length_bytes);
}
