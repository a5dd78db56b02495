/* SPDX-License-Identifier: MIT */
#include "libc/own.h"

#include <sys/mman.h>

#include "base/room.h"
#include "libc/real.h"
#include "libc/threads.h"

/* What a library has patched into libc calls syscall(), which is an entry of ours, and must not wait for ops there. */
void *libc_own_take(size_t length_bytes)
{
    enum { PROTECTION = PROT_READ | PROT_WRITE, FLAGS = MAP_PRIVATE | MAP_ANONYMOUS };
    if (length_bytes >= BASE_ROOM_LARGE_BYTES && !base_room_remains(length_bytes, BASE_ROOM_TO_HOLD_BYTES))
        return NULL;
    libc_threads_own.takes_own = true;
    void *memory = LIBC_REAL(mmap)(NULL, length_bytes, PROTECTION, FLAGS, -1, 0);
    libc_threads_own.takes_own = false;
    return memory == MAP_FAILED ? NULL : memory;
}

void libc_own_give_back(void *memory, size_t length_bytes)
{
    libc_threads_own.takes_own = true;
    LIBC_REAL(munmap)(memory, length_bytes);
    libc_threads_own.takes_own = false;
}
