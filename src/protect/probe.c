/* SPDX-License-Identifier: MIT */
#include "protect/probe.h"

#include <errno.h>

#include "base/pages.h"
#include "protect/backend.h"
#include "protect/hold.h"
#include "protect/holds.h"
#include "protect/kernel.h"
#include "protect/table.h"

enum { PROBE_PAGES = 3, PROBE_OP = 1 };

/* What arrives, as MPI writes it: inside the gate. */
static void arrive(char *place, char value)
{
    bool is_closed = table.backend->is_in_place;
    if (is_closed)
        base_rights_open(&holds.rights);
    *(volatile char *)place = value;
    if (is_closed)
        base_rights_close(&holds.rights);
}

/* By keys a thread is kept out by its rights alone. Is it, and does the kernel, too, keep to them? It would say that
 * there is no such file. */
static bool is_kept_out(const char *place)
{
    return !table.backend->is_in_place || (syscall(SYS_faccessat, -1, place, 0) != 0 && errno == EFAULT);
}

static bool receive_works(char *memory, size_t length_bytes)
{
    /* not aligned, so that the edges are tried as well */
    struct range bytes = {(uintptr_t)memory + 1, (uintptr_t)memory + length_bytes - 1};
    struct hold *hold = NULL;
    memory[0] = 'a';
    memory[1] = 'b';
    if (protect_hold_arm(HOLD_NO_ACCESS, bytes, PROBE_OP, &hold) != REASON_NONE)
        return false;
    bool is_closed = is_kept_out(memory);
    arrive(protect_hold_transfer_address(hold), 'c');
    protect_hold_release(hold);
    volatile char *result = memory;
    result[2] = 'd';
    return is_closed && result[0] == 'a' && result[1] == 'c' && result[2] == 'd';
}

static bool send_works(char *memory, size_t length_bytes)
{
    struct hold *hold = NULL;
    if (protect_hold_arm(HOLD_NO_WRITE, base_range_of(memory, length_bytes), PROBE_OP, &hold) != REASON_NONE)
        return false;
    volatile char *result = memory;
    bool is_readable = result[0] == 'a';
    protect_hold_release(hold);
    result[0] = 'e';
    return is_readable;
}

bool probe_holds(void)
{
    size_t length_bytes = PROBE_PAGES * base_page_bytes();
    char *memory =
        (char *)syscall(SYS_mmap, NULL, length_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
    if (memory == MAP_FAILED)
        return false;
    bool works = receive_works(memory, length_bytes) && send_works(memory, length_bytes);
    syscall(SYS_munmap, memory, length_bytes);
    return works;
}
