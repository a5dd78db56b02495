/* SPDX-License-Identifier: MIT */
/* Completing the program's own requests: MPI_Wait*, MPI_Test*. They stay the
 * program's: nobody else completes them. While ops are pending a wait becomes a
 * loop of tests, with the ops tested in between. */
#ifndef MPI_REQUEST_COMPLETION_H
#define MPI_REQUEST_COMPLETION_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "op/busy.h"
#include "op/requests.h"
#include "op/untracked.h"

enum { COMPLETION_KEYS_INLINE = 64 };

/* The arguments of one completion call, and the handles as they were before:
 * MPI overwrites those of requests that are over. */
struct completion {
    int count;
    MPI_Request *requests;
    int *out_count;
    int *indices;
    MPI_Status *statuses;
    const void *waited_from; /* where the program waits for them, all unless there are indices; NULL: it does not */
    int over_count;          /* of all to wait for: the first ones, which are over, where not all are tested at once */
    bool is_looked_at;       /* of all to wait for: has_file is known */
    bool has_file;           /* operations on files are among them, so each is tested by itself */
    bool has_failed;         /* one of those tested so */
    bool has_hidden;         /* handles that MPI does not see (persistent.h) */
    uint64_t *keys;
    uint64_t inline_keys[COMPLETION_KEYS_INLINE];
};

/* May the call go straight to MPI? Then the messages that were only counted
 * (op/untracked.h) are counted down by these: requests that are not null
 * before, less those that are not null after. */
static inline bool completion_is_direct(void)
{
    /* Expected, as all on the way of a poll that finds nothing: each jump that is taken there costs as much as this.
     * One jump for both. */
    bool is_tracked = requests_are_tracked();
    return __builtin_expect(busy_is_clear() & !is_tracked, true);
}

static inline int completion_count(int count, const MPI_Request *requests)
{
    int number = 0;
    for (int i = 0; requests != NULL && i < count; i++) /* NULL: MPI says itself what is wrong */
        number += requests[i] != abi_handles.request_null;
    return number;
}

static inline void completion_uncount(int before, int count, const MPI_Request *requests)
{
    untracked_add_alone(completion_count(count, requests) - before);
}

/* The same for calls that name what they completed. */
void completion_uncount_named(int named, const int *indices, int count, const MPI_Request *requests);

/* One nonblocking test; *is_over when the blocking call would return. */
typedef int completion_test_fn(struct completion *completion, int *is_over);

/* MPI_Test of the first request. */
int completion_test_one(struct completion *completion, int *is_over);

/* Should a blocking completion call become a loop? */
bool completion_must_loop(void);

/* A completion call that may not go straight to MPI: `call` inside the gate or, where it
 * would keep the gate while ops are pending, a loop over `test` (NULL: it does not block). */
typedef int completion_call_fn(struct completion *completion);
int completion_carry(struct completion *completion, completion_call_fn *call, completion_test_fn *test);

#endif
