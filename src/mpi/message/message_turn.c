/* SPDX-License-Identifier: MIT */
#include "mpi/message/message_turn.h"

#include <stddef.h>

#include "base/clock.h"
#include "mpi/dispatch.h"
#include "mpi/native.h"
#include "mpi/real.h"

struct turn {
    struct transfer *transfer;
    struct message message;
    void *buffer;
    message_start_fn *start; /* of what is not received */
    MPI_Message matched;     /* not asked for yet */
};

/* turns: of the op in each slot; by who begins the op, then by who tests it.
 * waiting: a ring, numbered from the first that ever waited: those before `next` have had their turn, of which those
 * from `unasked` on may be matched and not asked for; the rest wait, up to `end`. Each has a transfer, so there is
 * room. Inside the gate; not under MPI_THREAD_MULTIPLE, where receives are matched in their calls. */
static struct {
    struct turn turns[TRANSFERS_MAX];
    uint32_t unasked;
    uint32_t next;
    uint32_t end;
    struct turn *waiting[TRANSFERS_MAX];
} line;

static struct turn *turn_at(uint32_t number)
{
    return line.waiting[number % TRANSFERS_MAX];
}

void message_turn_await(struct transfer *transfer, const struct message *message, void *buffer, message_start_fn *start)
{
    struct turn *turn = &line.turns[transfer->slot];
    *turn = (struct turn){transfer, *message, buffer, start, abi_handles.message_null};
    line.waiting[line.end++ % TRANSFERS_MAX] = turn;
    native_of(transfer)->stage = NATIVE_IN_LINE;
    transfer_unmatched_add();
}

static void turn_started(const struct turn *turn, int result)
{
    native_of(turn->transfer)->start_result = result;
    native_of(turn->transfer)->stage = NATIVE_STARTED;
}

static bool turn_is_matched(const struct turn *turn)
{
    return native_of(turn->transfer)->stage == NATIVE_MATCHED;
}

/* relaxed: see dispatch_catch_up() */
static void turn_matched(const struct turn *turn)
{
    native_of(turn->transfer)->stage = NATIVE_MATCHED;
    dispatch_unstarted[DISPATCH_RECEIVES].start_all = message_turn_ask_all;
    atomic_fetch_add_explicit(&dispatch_unstarted[DISPATCH_RECEIVES].count, 1, memory_order_relaxed);
}

void message_turn_await_data(struct transfer *transfer, const struct message *message, void *buffer)
{
    struct turn *turn = &line.turns[transfer->slot];
    *turn = (struct turn){transfer, *message, buffer, NULL, *message->matched};
    *message->matched = abi_handles.message_null;
    turn_matched(turn);
}

/* False while it waits. An error ends its op. */
static bool turn_match(struct turn *turn)
{
    int is_found = 0;
    const struct message *m = &turn->message;
    int result = real.MPI_Improbe(m->peer, m->tag, m->comm, &is_found, &turn->matched, MPI_STATUS_IGNORE);
    if (result != MPI_SUCCESS)
        turn_started(turn, result);
    else if (is_found)
        turn_matched(turn);
    return is_found || result != MPI_SUCCESS;
}

static bool turn_take(struct turn *turn)
{
    if (turn->message.direction == POLICY_RECEIVE)
        return turn_match(turn);
    turn_started(turn, turn->start(&turn->message, turn->buffer, &native_of(turn->transfer)->request));
    return true;
}

static int turn_receive(struct turn *turn, MPI_Request *request)
{
    const struct message *m = &turn->message;
    return real_sized_MPI_Imrecv(turn->buffer, m->count, m->datatype, &turn->matched, request, message_is_huge(m));
}

static void turn_ask(struct turn *turn)
{
    int64_t begin_ns = base_clock_now_ns();
    int result = turn_receive(turn, &native_of(turn->transfer)->request);
    policy_site_saw_start(turn->message.site, base_clock_now_ns() - begin_ns);
    atomic_fetch_sub_explicit(&dispatch_unstarted[DISPATCH_RECEIVES].count, 1, memory_order_relaxed);
    turn_started(turn, result);
}

/* All that is unmatched waits in line, but for a collective that came before: it waits for nothing in line. */
static bool turn_has_come(void)
{
    return line.next != line.end && transfer_unmatched() == line.end - line.next;
}

/* What can be announced is, before requests for data go out: these go the way of the data, behind it. */
void message_turn_advance(void)
{
    while (turn_has_come() && turn_take(turn_at(line.next))) {
        transfer_note_announced(turn_at(line.next)->transfer);
        line.next++;
        transfer_unmatched_remove();
    }
    while (line.unasked != line.next) {
        struct turn *turn = turn_at(line.unasked++);
        if (turn_is_matched(turn) && !turn->message.starts_apart)
            turn_ask(turn);
    }
}

void message_turn_ask_all(void)
{
    for (uint32_t slot = 0; slot < TRANSFERS_MAX; slot++) {
        struct turn *turn = &line.turns[slot];
        if (turn->transfer != NULL && turn_is_matched(turn))
            turn_ask(turn);
    }
}

void message_turn_carry_on(struct transfer *transfer)
{
    struct turn *turn = &line.turns[transfer->slot];
    if (native_of(transfer)->stage == NATIVE_IN_LINE)
        message_turn_advance();
    if (turn_is_matched(turn))
        turn_ask(turn);
}
