/* SPDX-License-Identifier: MIT */
#include "base/signal_set.h"

#include <signal.h>
#include <stddef.h>

uint64_t base_signal_set_deferrable(void)
{
    static const int others[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, 32, 33};
    uint64_t all = UINT64_MAX;
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        all &= ~((uint64_t)1 << (others[i] - 1));
    return all;
}
