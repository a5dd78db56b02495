/* SPDX-License-Identifier: MIT */
/* What op tells the profile, where one is wanted. One table, constant, from lib/wiring.c. */
#ifndef OP_OBSERVER_H
#define OP_OBSERVER_H

#include <stdbool.h>

#include "base/range.h"
#include "record/profile_file.h"

struct observer {
    /* Before the first MPI call: is a profile wanted? Then every call is passed, and timed. */
    bool (*is_wanted)(void);

    /* After MPI_Init; false, and no profile, when its file cannot be made. */
    bool (*start)(const struct profile_file_identity *identity);
    /* MPI_Finalize; the end of a process without; the child of a fork. */
    void (*stop)(void);
    void (*leave)(void);
    void (*forked_child)(void);

    /* These bytes, or any, are about to be used by a call. Only while something is watched or held. */
    void (*used)(struct range bytes, bool is_read);
    void (*all_used)(void);
};

extern const struct observer observer;

#endif
