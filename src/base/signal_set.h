/* SPDX-License-Identifier: MIT */
/* Sets of signals as the kernel has them: bit n - 1 is signal n (sigprocmask(2)). */
#ifndef BASE_SIGNAL_SET_H
#define BASE_SIGNAL_SET_H

#include <stdint.h>

enum { BASE_SIGNAL_SET_BYTES = 8 };

/* Empty where there is no such signal. */
static inline uint64_t base_signal_set_of(int number)
{
    return number >= 1 && number <= 8 * BASE_SIGNAL_SET_BYTES ? UINT64_C(1) << (number - 1) : 0;
}

/* All that may come late: not those that an instruction raises, nor the two that
 * libc needs for itself (32 and 33, nptl(7)). */
uint64_t base_signal_set_deferrable(void);

#endif
