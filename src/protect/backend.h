/* SPDX-License-Identifier: MIT */
/* How pages are guarded. One row of functions per backend; protect.c decides
 * the order of the steps, which is the same for all. Ranges are whole pages.
 *
 * Receiving, piece by piece:  access_close  (only edge pages, before they move)
 *                             pages move to transit
 *                             transit_settle (only edge pages)
 *                             access_close  (all pages, now empty)
 *                             ... MPI writes in transit ...
 *                             pages move home, which replaces the guarded range
 *                             wake
 * Sending:                    write_close ... write_open, wake */
#ifndef PROTECT_BACKEND_H
#define PROTECT_BACKEND_H

#include <stdbool.h>

#include "base/pages.h"

struct backend {
    const char *name;
    bool system_calls_fail; /* a system call on held memory: EFAULT instead of waiting */
    bool sets_rights;       /* opens with mprotect(2), for reading and writing */

    bool (*start)(void);
    void (*stop)(void); /* also after a start that failed */

    /* From now on a touch of a page that is not there waits (userfaultfd), or
     * every touch waits (signal). */
    bool (*access_close)(struct range pages);
    void (*access_open)(struct range pages);

    /* Makes guarded pages that have moved to transit usable there. */
    bool (*transit_settle)(struct range transit_pages);

    bool (*write_close)(struct range pages);
    void (*write_open)(struct range pages);

    /* Lets go the threads that wait in the kernel for these pages. */
    void (*wake)(struct range pages);

    int (*event_descriptor)(void);
    void (*events_read)(void);
};

extern const struct backend backend_userfault;
extern const struct backend backend_userfault_user;
extern const struct backend backend_signal;

#endif
