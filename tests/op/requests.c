/* SPDX-License-Identifier: MIT */
/* Claims: requests beyond any number are followed, and forgotten when they are over; of two with one handle the older
 * one is over first; regions and unknown memory count until they are given back, however many there were; the engine
 * may end one while the program ends others; small messages are counted, or tracked for as long as somebody asks. */
#include "op/requests.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/gate.h"
#include "op/assist.h"
#include "op/host.h"
#include "op/untracked.h"

enum { MANY = 100000, ENDS = 3000, SLOT_BYTES = 64, REGIONS = 300 };

void assist_begin(struct assist *assist, uint64_t bytes, uintptr_t buffer, const void *return_address)
{
    (void)bytes, (void)buffer, (void)return_address;
    assist->is_observed = true;
}

void assist_learn_wait(struct assist_waits *waits, const struct assist *assist, struct policy_site *site,
                       uint32_t situation)
{
    (void)waits, (void)assist, (void)site, (void)situation;
}

/* As that of an operation which the engine has worked for. */
void assist_end(struct assist *assist)
{
    (void)assist;
    gate_enter();
    gate_leave();
}

static void *own_take(size_t length_bytes)
{
    return calloc(1, length_bytes);
}

static void own_give_back(void *memory, size_t length_bytes)
{
    (void)length_bytes;
    free(memory);
}

const struct host host = {.memory_take = own_take, .memory_give_back = own_give_back};

static void claim(bool is_true, const char *text)
{
    if (!is_true) {
        printf("FAILED: %s\n", text);
        exit(1);
    }
}

static uint64_t key_of(uint32_t i)
{
    return UINT64_C(0x10000) + 16 * i;
}

static struct range bytes_of(uint32_t i)
{
    uintptr_t low = UINT64_C(0x100000000) + (uintptr_t)i * SLOT_BYTES;
    return (struct range){low, low + 8};
}

/* How many small messages begin, each tracked, until one is only counted? */
static int count_tracked(void)
{
    int tracked = 0;
    while (tracked < MANY && !requests_begin_small())
        tracked++;
    return tracked;
}

static void test_small(void)
{
    claim(requests_begin_small(), "small messages are only counted at first");
    untracked_add(-1);
    claim(!requests_touch(bytes_of(0)), "nobody's");
    int tracked = count_tracked();
    claim(tracked > 0 && tracked < MANY, "after a question they are tracked, but not for ever");
    claim(requests_touch(bytes_of(0)), "one of which nobody knows is under way: it may be anybody's");
    untracked_add(-1);
    claim(!requests_touch(bytes_of(0)), "it is over");
    int tracked_then = count_tracked();
    claim(tracked_then > tracked && tracked_then < MANY, "they are tracked for longer where that came in the way");
    untracked_add(-1);
}

static void test_many(void)
{
    for (uint32_t i = 0; i < MANY; i++)
        requests_track(key_of(i), bytes_of(i));
    claim(requests_touch(bytes_of(MANY - 1)), "the last of many is known");
    claim(!requests_touch(bytes_of(MANY)), "what is nobody's is free while there are many");
    for (uint32_t i = 0; i < MANY; i += 2)
        requests_untrack(key_of(i));
    claim(requests_know(key_of(77777)) && !requests_know(key_of(77776)), "the others are still there");
    claim(requests_range(key_of(1)).low == bytes_of(1).low, "with their bytes");
    for (uint32_t i = 1; i < MANY; i += 2)
        requests_untrack(key_of(i));
    claim(!requests_are_tracked() && !requests_touch(bytes_of(1)), "none is left");
    requests_track(key_of(5), bytes_of(5));
    claim(requests_touch(bytes_of(5)) && !requests_touch(bytes_of(6)), "one that begins anew");
    requests_untrack(key_of(5));
}

static void test_same_key(void)
{
    requests_track(key_of(1), bytes_of(1));
    requests_track(key_of(1), bytes_of(2)); /* another thread's, with the handle that MPI gave back */
    requests_untrack(key_of(1));
    claim(requests_touch(bytes_of(2)) && !requests_touch(bytes_of(1)), "the older of two with one handle is over");
    requests_untrack(key_of(1));
    claim(!requests_touch(bytes_of(2)), "and then the other");
}

static void test_counted(void)
{
    untracked_add(1);
    claim(requests_touch(bytes_of(1)), "a message that is only counted may use any bytes");
    requests_untrack(key_of(1));
    claim(!requests_touch(bytes_of(1)), "until it is over");
}

static void test_sends(void)
{
    struct requests_send send;
    requests_track(key_of(1), bytes_of(1));
    requests_track(key_of(2), bytes_of(2));
    requests_note_send(key_of(2), (struct requests_send){.may_outlast = true, .may_hide_gaps = true});
    claim(!requests_find_send(key_of(1), &send), "a request of which nobody has said that it sends");
    claim(requests_find_send(key_of(2), &send) && send.bytes.low == bytes_of(2).low && send.may_hide_gaps, "a send");
    requests_forget_send(key_of(2));
    claim(requests_find_any_send(key_of(2), &send) && !requests_find_any_send(key_of(1), &send), "still a send");
    claim(!requests_find_send(key_of(2), &send) && requests_touch(bytes_of(2)), "a send that is to be cancelled");
    requests_note_send(key_of(2), (struct requests_send){.may_outlast = true, .may_hide_gaps = false});
    requests_untrack(key_of(2));
    requests_track(key_of(2), bytes_of(3));
    claim(!requests_find_send(key_of(2), &send), "another request, with the handle of a send that is over");
    requests_untrack(key_of(1));
    requests_untrack(key_of(2));
}

static void test_files(void)
{
    requests_track(key_of(1), bytes_of(1));
    claim(!requests_may_be(REQUESTS_FILE) && !requests_is(key_of(1), REQUESTS_FILE), "no operation on a file");
    requests_track(key_of(2), bytes_of(2));
    requests_note_kind(key_of(2), REQUESTS_FILE);
    claim(requests_may_be(REQUESTS_FILE) && requests_is(key_of(2), REQUESTS_FILE), "one");
    claim(!requests_is(key_of(1), REQUESTS_FILE) && !requests_is(key_of(2), REQUESTS_PERSISTENT), "and no other");
    requests_untrack(key_of(2));
    claim(!requests_is(key_of(2), REQUESTS_FILE), "one that is over");
    requests_untrack(key_of(1));
}

static void test_left(void)
{
    struct requests_send send;
    requests_track(key_of(1), bytes_of(1));
    requests_note_send(key_of(1), (struct requests_send){.may_outlast = true, .is_persistent = true});
    claim(requests_find_send(key_of(1), &send) && send.is_persistent, "a persistent send");
    claim(requests_left_to(key_of(1)) == 0 && requests_left_to(key_of(2)) == 0, "which no op has");
    requests_leave_to(key_of(1), 7);
    requests_set_aside(key_of(1), true);
    claim(requests_left_to(key_of(1)) == 7 && !requests_touch(bytes_of(1)), "left to an op, set aside");
    requests_set_aside(key_of(1), false);
    claim(requests_touch(bytes_of(1)), "and no longer aside");
    requests_untrack(key_of(1));
    claim(requests_left_to(key_of(1)) == 0, "a request that was freed");
}

static void test_regions(void)
{
    for (uint32_t i = 0; i < REGIONS; i++)
        requests_track_region(bytes_of(i));
    claim(requests_touch(bytes_of(REGIONS - 1)), "a region without an entry counts");
    for (uint32_t i = 0; i < REGIONS; i++)
        requests_untrack_region(bytes_of(i).low);
    claim(!requests_touch(bytes_of(0)) && !requests_touch(bytes_of(REGIONS - 1)), "regions that are given back");
}

static void test_unknown(void)
{
    requests_track_unknown();
    requests_track_unknown();
    requests_untrack_unknown();
    claim(requests_are_unknown() && requests_touch(bytes_of(1)), "unknown memory");
    requests_untrack_unknown();
    claim(!requests_are_unknown() && !requests_touch(bytes_of(1)), "that is known again");
}

static _Atomic uint32_t ended_by_engine = MANY;

static void *engine_run(void *unused)
{
    for (uint32_t i = 0; i < ENDS; i++) {
        while (atomic_load(&ended_by_engine) != i)
            continue;
        gate_enter();
        requests_untrack(key_of(i));
        gate_leave();
        atomic_store(&ended_by_engine, MANY);
    }
    return unused;
}

static void test_engine(void)
{
    pthread_t engine;
    requests_expect_engine();
    claim(pthread_create(&engine, NULL, engine_run, NULL) == 0, "a thread");
    for (uint32_t i = 0; i < ENDS; i++) {
        requests_track(key_of(i), bytes_of(i));
        atomic_store(&ended_by_engine, i);
        while (atomic_load(&ended_by_engine) == i) {
            requests_track(key_of(MANY), bytes_of(MANY));
            requests_assist(key_of(MANY), 0, NULL);
            requests_untrack(key_of(MANY));
        }
    }
    pthread_join(engine, NULL);
    claim(!requests_are_tracked() && !requests_know(key_of(MANY)), "none is left");
}

int main(void)
{
    test_small();
    test_many();
    test_same_key();
    test_counted();
    test_sends();
    test_files();
    test_left();
    test_regions();
    test_unknown();
    puts("ok");
    test_engine();
    return 0;
}
