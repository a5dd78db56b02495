/* SPDX-License-Identifier: MIT */
/* Claims: a message goes straight once its type is learnt, while it is below its threshold and nothing is pending; what
 * forbids it ends that until the type is learnt again; and each is counted once, in bytes of its own type. */
#include "op/straight.h"

#include <stdint.h>

#include "../base/claim.h"
#include "base/options.h"
#include "op/busy.h"
#include "record/record.h"

enum { DOUBLES = 0x4c00080b, INTS = 0x4c000405, DOUBLE_BYTES = 8, INT_BYTES = 4 };

static uint64_t recorded(const _Atomic uint64_t *of_reasons)
{
    straight_record();
    return of_reasons[REASON_SMALL];
}

static void test_thresholds(void)
{
    options.threshold_bytes = 65536;
    options.progress_threshold_bytes = 20;
    claim(!straight_passes(1, DOUBLES) && !straight_begins(1, DOUBLES), "nothing goes straight at first");
    straight_learn(DOUBLES, DOUBLE_BYTES);
    claim(straight_passes(0, DOUBLES) && straight_passes(8191, DOUBLES), "below the threshold");
    claim(!straight_passes(8192, DOUBLES), "at the threshold");
    claim(!straight_passes(-1, DOUBLES) && !straight_begins(INT64_MIN, DOUBLES), "a negative count");
    claim(straight_begins(2, DOUBLES) && !straight_begins(3, DOUBLES), "the other threshold, inside an element");
    claim(untracked_are_some(), "a nonblocking one is under way");
    claim(!straight_passes(1, INTS), "a type that is not learnt");
    straight_learn(0x200, 0);
    claim(straight_passes(INT32_MAX, 0x200) && !straight_passes((int64_t)INT32_MAX + 1, 0x200),
          "of an empty type as many as an int counts");
    straight_learn(INTS, INT64_MAX);
    claim(straight_passes(0, INTS) && !straight_passes(1, INTS), "of a huge type none but an empty message");
    straight_close();
    options.threshold_bytes = 16;
    straight_learn(DOUBLES, DOUBLE_BYTES);
    claim(straight_begins(1, DOUBLES) && !straight_begins(2, DOUBLES),
          "what may be held when it is waited for is known");
    straight_close();
    options.threshold_bytes = 65536;
}

static void test_counts(void)
{
    uint64_t calls = recorded(record.pass_calls);
    uint64_t bytes = recorded(record.pass_bytes);
    straight_learn(DOUBLES, DOUBLE_BYTES);
    straight_passes(5, DOUBLES);
    straight_close();
    straight_learn(DOUBLES, INT_BYTES); /* the handle's next life */
    straight_passes(1, DOUBLES);
    claim(recorded(record.pass_calls) - calls == 2, "each is counted once");
    claim(recorded(record.pass_bytes) - bytes == 5 * DOUBLE_BYTES + INT_BYTES, "in bytes of its own type");
    claim(recorded(record.pass_calls) - calls == 2, "also where the record is made twice");
}

/* More types than there are places: each is found, or learnt again, and none takes another's size. */
static void test_many(void)
{
    enum { MANY = 1000 };
    uint64_t bytes = recorded(record.pass_bytes), sent_bytes = 0;
    for (uint64_t round = 0, type = 0; round < 4 * MANY; round++, type = round * 7 % MANY) {
        straight_learn(type << 4, type + 1);
        claim(straight_passes(3, type << 4), "what has just been learnt");
        sent_bytes += 3 * (type + 1);
    }
    claim(recorded(record.pass_bytes) - bytes == sent_bytes, "with its own size");
}

static void test_closed(void)
{
    straight_learn(DOUBLES, DOUBLE_BYTES);
    busy_raise();
    claim(!straight_passes(1, DOUBLES) && !straight_begins(1, DOUBLES), "none while an op is pending");
    busy_lower();
    claim(!straight_passes(1, DOUBLES), "nor after it, until the long way has found nothing pending");
    straight_learn(DOUBLES, DOUBLE_BYTES);
    claim(straight_passes(1, DOUBLES), "then again");
    (void)untracked_end_all();
    straight_close();
    straight_learn(DOUBLES, DOUBLE_BYTES);
    claim(straight_passes(1, DOUBLES) && !straight_begins(1, DOUBLES), "no nonblocking one once all are tracked");
    straight_bar();
    straight_learn(DOUBLES, DOUBLE_BYTES);
    claim(!straight_passes(1, DOUBLES), "none ever where several threads may be in MPI");
}

int main(void)
{
    test_thresholds();
    test_counts();
    test_many();
    test_closed();
    return 0;
}
