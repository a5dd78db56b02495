/* SPDX-License-Identifier: MIT */
#include "mpi/message/message_turn.h"

#include "mpi/native.h"
#include "mpi/real.h"

struct turn {
    struct transfer *transfer;
    struct message message;
    void *buffer;
    message_start_fn *start;
    MPI_Message matched; /* not asked for yet */
};

/* A ring, numbered from the first that ever waited: those before `next` have had their turn, of which those from
 * `unasked` on may be matched and not asked for; the rest wait, up to `end`. Each has a transfer, so there is room.
 * Inside the gate. */
static struct {
    uint32_t unasked;
    uint32_t next;
    uint32_t end;
    struct turn turns[TRANSFERS_MAX];
} line;

static struct turn *turn_at(uint32_t number)
{
    return &line.turns[number % TRANSFERS_MAX];
}

void message_turn_await(struct transfer *transfer, const struct message *message, void *buffer, message_start_fn *start)
{
    *turn_at(line.end++) = (struct turn){transfer, *message, buffer, start, abi_handles.message_null};
    native_of(transfer)->awaits_turn = true;
    transfer_unmatched_add();
}

static void turn_started(const struct turn *turn, int result)
{
    native_of(turn->transfer)->start_result = result;
    native_of(turn->transfer)->awaits_turn = false;
}

/* False while it waits. An error ends its op. */
static bool turn_match(struct turn *turn)
{
    int is_found = 0;
    const struct message *m = &turn->message;
    int result = real.MPI_Improbe(m->peer, m->tag, m->comm, &is_found, &turn->matched, MPI_STATUS_IGNORE);
    if (result != MPI_SUCCESS) {
        turn->matched = abi_handles.message_null;
        turn_started(turn, result);
    }
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
    if (m->count <= INT32_MAX)
        return real.MPI_Imrecv(turn->buffer, (int)m->count, m->datatype, &turn->matched, request);
    return real.MPI_Imrecv_c(turn->buffer, m->count, m->datatype, &turn->matched, request);
}

static void turn_ask(struct turn *turn)
{
    if (turn->matched != abi_handles.message_null)
        turn_started(turn, turn_receive(turn, &native_of(turn->transfer)->request));
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
    while (line.unasked != line.next)
        turn_ask(turn_at(line.unasked++));
}
