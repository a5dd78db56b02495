/* SPDX-License-Identifier: MIT */
/* Jumps, which may leave a wait. Nobody else tells us: a handler runs on the stack of
 * the wait that it interrupted, and where the jump leads is libc's secret. */
#include "engine/gate.h"
#include "libc/process.h"
#include "libc/real.h"
#include "libc/threads.h"
#include "op/transfer.h"

static void jump_begins(void)
{
    bool is_forking = libc_threads_own.forks_told != 0;
    if (gate_is_waiting() || is_forking)
        transfer_leave_waits();
    if (is_forking)
        libc_process_leave_forks();
}

void libc_entry_longjmp(void *state, int value) LIBC_ENTRY(longjmp);
void libc_entry_longjmp(void *state, int value)
{
    jump_begins();
    LIBC_REAL(longjmp)(state, value);
    __builtin_unreachable();
}

void libc_entry__longjmp(void *state, int value) LIBC_ENTRY(_longjmp);
void libc_entry__longjmp(void *state, int value)
{
    jump_begins();
    LIBC_REAL(_longjmp)(state, value);
    __builtin_unreachable();
}

void libc_entry_siglongjmp(void *state, int value) LIBC_ENTRY(siglongjmp);
void libc_entry_siglongjmp(void *state, int value)
{
    jump_begins();
    LIBC_REAL(siglongjmp)(state, value);
    __builtin_unreachable();
}

/* What the others are called with _FORTIFY_SOURCE. */
void libc_entry___longjmp_chk(void *state, int value) LIBC_ENTRY(__longjmp_chk);
void libc_entry___longjmp_chk(void *state, int value)
{
    jump_begins();
    LIBC_REAL(__longjmp_chk)(state, value);
    __builtin_unreachable();
}
