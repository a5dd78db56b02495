/* SPDX-License-Identifier: MIT */
/* The backend for memory that must stay where it is: protection keys (pkeys(7)), and SIGSEGV at a touch.
 *
 * What a thread may do with pages of a key is in a register of its own. Two keys serve all holds: by one the program's
 * threads may do nothing, by the other only read. Whoever is inside the gate may do both (engine/gate.c), so that MPI,
 * which registers, reads and writes memory there, meets no protection at all, while the others wait. */
#include "protect/keys.h"

#include <errno.h>

#include "protect/backend.h"
#include "protect/holds.h"
#include "protect/kernel.h"
#include "protect/refusal.h"
#include "protect/reserve.h"

enum { NO_ACCESS = 1, NO_WRITE = 2, BITS = 3 }; /* of a key, in the register and for pkey_alloc(2) */

static uint32_t bits_of(uint32_t bits, int key)
{
    return bits << 2 * key;
}

static int key_take(unsigned long rights)
{
    return (int)syscall(SYS_pkey_alloc, 0UL, rights);
}

static void key_give_back(int key)
{
    if (key >= 0)
        syscall(SYS_pkey_free, key);
}

static bool keys_take_both(void)
{
    int access = key_take(NO_ACCESS);
    int write = key_take(NO_WRITE);
    if (access < 0 || write < 0) {
        key_give_back(access);
        key_give_back(write);
        return false;
    }
    holds.rights.mask = bits_of(BITS, access) | bits_of(BITS, write);
    holds.rights.closed = bits_of(NO_ACCESS, access) | bits_of(NO_WRITE, write);
    return true;
}

bool keys_take(void)
{
    int saved_errno = errno;
    holds.rights.offset_bytes = machine_rights_offset();
    bool are_taken = holds.rights.mask != 0 || (holds.rights.offset_bytes != 0 && keys_take_both());
    errno = saved_errno;
    return are_taken;
}

/* The key whose bits are `bits` while the program's threads are closed out. */
static int key_with(uint32_t bits)
{
    int key = 1; /* 0 is everybody's */
    while ((holds.rights.closed & bits_of(BITS, key)) != bits_of(bits, key))
        key++;
    return key;
}

void keys_give_back(void)
{
    if (holds.rights.mask == 0)
        return;
    int saved_errno = errno;
    int access = key_with(NO_ACCESS);
    int write = key_with(NO_WRITE);
    machine_rights_write((machine_rights_read() & ~holds.rights.mask) | bits_of(NO_ACCESS, access) |
                         bits_of(NO_ACCESS, write));
    key_give_back(access);
    key_give_back(write);
    errno = saved_errno;
    holds.rights.mask = holds.rights.closed = 0;
}

static bool keys_start(void)
{
    if (!keys_take() || !backend_signal.start())
        return false;
    base_rights_close(&holds.rights);
    return true;
}

static void keys_stop(void)
{
    backend_signal.stop();
}

static bool keys_access_close(struct range pages)
{
    return kernel_mprotect_key(pages, PROT_READ | PROT_WRITE, key_with(NO_ACCESS));
}

static bool keys_write_close(struct range pages)
{
    return kernel_mprotect_key(pages, PROT_READ | PROT_WRITE, key_with(NO_WRITE));
}

/* Splits a mapping where a neighbour stays held, for which there may be none left. */
static void keys_open(struct range pages)
{
    bool is_open;
    do
        is_open = kernel_mprotect_key(pages, PROT_READ | PROT_WRITE, 0);
    while (!is_open && errno == ENOMEM && reserve_spend());
    if (!is_open)
        refusal_end_open(pages, errno);
}

const struct backend backend_keys = {
    .name = "keys",
    .system_calls_fail = true,
    .sets_rights = true,
    .is_in_place = true,
    .start = keys_start,
    .stop = keys_stop,
    .access_close = keys_access_close,
    .access_open = keys_open,
    .write_close = keys_write_close,
    .write_open = keys_open,
};
