/* SPDX-License-Identifier: MIT */
/* What threads may do with memory that is held by protection keys (pkeys(7)). Each thread has a register of its own,
 * in which only the bits of our keys are changed: the others are the program's. */
#ifndef BASE_RIGHTS_H
#define BASE_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/machine.h"

/* mask: the bits of our keys; 0: no keys are in use. closed: what they are for the program's threads. All are zero for
 * whoever may touch what is held. offset_bytes: machine_rights_offset(). */
struct base_rights {
    uint32_t mask;
    uint32_t closed;
    uint32_t offset_bytes;
};

/* Both leave the register alone where it says so already: to write it takes some twenty cycles, and more after it. */
static inline void base_rights_open(const struct base_rights *rights)
{
    uint32_t own = machine_rights_read();
    if ((own & rights->mask) != 0)
        machine_rights_write(own & ~rights->mask);
}

static inline void base_rights_close(const struct base_rights *rights)
{
    uint32_t own = machine_rights_read();
    if ((own & rights->mask) != rights->closed)
        machine_rights_write((own & ~rights->mask) | rights->closed);
}

static inline bool base_rights_are_open(const struct base_rights *rights, uint32_t own)
{
    return (own & rights->mask) == 0;
}

/* Neither open nor closed: a thread from before the keys, or a signal handler, has the kernel's default, by which not
 * even what is sent can be read. */
static inline bool base_rights_are_default(const struct base_rights *rights, uint32_t own)
{
    uint32_t bits = own & rights->mask;
    return bits != 0 && bits != rights->closed;
}

#endif
