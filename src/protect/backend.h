/* SPDX-License-Identifier: MIT */
/* How pages are guarded. One row of functions per backend; closing.c decides
 * the order of the steps, which is the same for all. Ranges are whole pages.
 *
 * Receiving, piece by piece:  access_close  (only edge pages, before they move)
 *                             pages move to transit
 *                             transit_settle (only edge pages)
 *                             access_close  (all pages, now empty)
 *                             ... MPI writes in transit ...
 *                             pages move home, which replaces the guarded range
 *                             wake
 * Receiving in place:         access_close ... MPI writes there ... access_open
 * Sending:                    write_close ... write_open, wake
 * Sending, never waiting:     as receiving, with copying_close for access_close;
 *                             page_place (at a touch) ... page_close, pages move home, wake */
#ifndef PROTECT_BACKEND_H
#define PROTECT_BACKEND_H

#include <stdbool.h>

#include "base/range.h"

struct backend {
    const char *name;
    bool system_calls_fail; /* a system call on held memory: EFAULT instead of waiting */
    bool sets_rights;       /* opens with mprotect(2), for reading and writing */
    bool is_in_place;       /* no page moves: who is inside MPI has rights of its own (base/rights.h) */

    bool (*start)(void);
    void (*stop)(void); /* also after a start that failed */

    /* From now on a touch of a page that is not there waits (userfaultfd), or
     * every touch waits (signal). */
    bool (*access_close)(struct range pages);
    void (*access_open)(struct range pages);

    /* The same, where page_place() is to come; NULL with the next two where a touch cannot be
     * answered without letting other threads in meanwhile (signal). */
    bool (*copying_close)(struct range pages);
    /* Puts copies of the pages at `from` where no pages are, and lets go who waits for
     * them. Bytes done: whole pages, 0 when it cannot. */
    size_t (*page_place)(struct range pages, uintptr_t from);
    /* Writers of such pages wait from now on; readers do not. */
    void (*page_close)(struct range pages);

    /* Makes guarded pages that have moved to transit usable there. */
    bool (*transit_settle)(struct range transit_pages);

    bool (*write_close)(struct range pages);
    void (*write_open)(struct range pages);

    /* Lets go the threads that wait in the kernel for these pages. NULL with the next two where none does: who waits
     * sleeps on the word of the hold (fault.c). */
    void (*wake)(struct range pages);

    int (*event_descriptor)(void);
    void (*events_read)(void (*touched)(uintptr_t address));
};

extern const struct backend backend_userfault;
extern const struct backend backend_userfault_user;
extern const struct backend backend_signal;
extern const struct backend backend_keys;

#endif
