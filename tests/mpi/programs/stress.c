/* SPDX-License-Identifier: MIT */
/* Claim: a long random program ends with exactly the bytes that its plan says.
 * arguments: short
 * defers: any
 * timeout: 300
 *
 * stress <steps | short> [seed]. Both ranks derive the same plan from the seed
 * and keep a model of both ranks' memory, so that every byte can be checked. */
#include <stdint.h>
#include <sys/mman.h>

#include "check.h"

enum {
    STRIDE_SLOTS = 12, /* side by side in one mapping, so that they share pages */
    HEAP_SLOTS = 6,    /* malloc'd, and freed and resized on the way */
    BIG_SLOT = STRIDE_SLOTS + HEAP_SLOTS,
    SLOT_COUNT,
    STRIDE_BYTES = 160007,
    BIG_BYTES = (2 << 20) + 77,
    STATUS_COUNT = 8,
    SHORT_STEPS = 10000,
};

/* The same on both ranks, apart from `actual` and `request`, which are this rank's. */
struct slot {
    size_t length;
    unsigned char *model[2];
    bool is_pending[2];
    unsigned char *actual;
    MPI_Request request;
};

struct part {
    struct slot *slot;
    size_t offset;
};

static struct slot slots[SLOT_COUNT];
static unsigned char big[BIG_BYTES];
static MPI_Status statuses[STATUS_COUNT]; /* kept, and asked much later */
static int status_counts[STATUS_COUNT];
static uint64_t random_state;
static long messages;
static int me;

/* splitmix64: the same numbers on both ranks. */
static size_t plan_random(size_t below)
{
    uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (size_t)((z ^ (z >> 31)) % below);
}

/* Many small lengths, many around the thresholds, some big. */
static size_t plan_length(size_t most)
{
    static const size_t limits[] = {200, 5000, 5000, 70000, 140000, 140000, 1 << 20};
    size_t limit = limits[plan_random(7)];
    return plan_random((limit < most ? limit : most) + 1);
}

static void slot_settle(struct slot *slot, int rank)
{
    if (slot->is_pending[rank] && rank == me)
        MPI_Wait(&slot->request, MPI_STATUS_IGNORE);
    slot->is_pending[rank] = false;
}

static struct part plan_part(int rank)
{
    struct part part = {.slot = &slots[plan_random(SLOT_COUNT)]};
    slot_settle(part.slot, rank);
    part.offset = plan_random(part.slot->length);
    return part;
}

static void slot_write(struct slot *slot, int rank, size_t offset, size_t length, unsigned seed)
{
    check_fill(slot->model[rank] + offset, length, seed);
    if (rank == me)
        check_fill(slot->actual + offset, length, seed);
}

static void slot_check(struct slot *slot, size_t offset, size_t length)
{
    check(memcmp(slot->actual + offset, slot->model[me] + offset, length) == 0, "the memory is as the plan says");
}

static void slot_new(struct slot *slot, unsigned char *actual, size_t length)
{
    *slot = (struct slot){.length = length, .actual = actual};
    for (int rank = 0; rank < 2; rank++) {
        slot->model[rank] = malloc(length);
        slot_write(slot, rank, 0, length, (unsigned)(rank + length));
    }
}

static void slots_start(void)
{
    unsigned char *mapping =
        mmap(NULL, STRIDE_SLOTS * STRIDE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < STRIDE_SLOTS; i++)
        slot_new(&slots[i], mapping + i * STRIDE_BYTES, STRIDE_BYTES);
    for (int i = STRIDE_SLOTS; i < BIG_SLOT; i++) {
        size_t length = 1000 + plan_random(300000);
        slot_new(&slots[i], malloc(length), length);
    }
    slot_new(&slots[BIG_SLOT], big, BIG_BYTES);
}

/* How the sender sends: blocking most of the time. */
static void message_send(struct part part, size_t length, int tag, size_t form)
{
    const void *bytes = part.slot->actual + part.offset;
    if (form == 0)
        MPI_Ssend(bytes, (int)length, MPI_BYTE, 1 - me, tag, MPI_COMM_WORLD);
    else if (form == 1)
        MPI_Isend(bytes, (int)length, MPI_BYTE, 1 - me, tag, MPI_COMM_WORLD, &part.slot->request);
    else
        MPI_Send(bytes, (int)length, MPI_BYTE, 1 - me, tag, MPI_COMM_WORLD);
}

static void status_check(const MPI_Status *status, int expected)
{
    int count = -1;
    MPI_Get_count(status, MPI_BYTE, &count);
    check(count == expected, "the status has the message's count");
}

/* How the receiver receives; `room` may be more than `length`. */
static void message_receive(struct part part, size_t room, size_t length, int tag, size_t form)
{
    void *bytes = part.slot->actual + part.offset;
    int kept = (int)(messages % STATUS_COUNT);
    bool is_any = form == 2 || form == 3;
    if (form == 1) {
        MPI_Irecv(bytes, (int)room, MPI_BYTE, 1 - me, tag, MPI_COMM_WORLD, &part.slot->request);
        return;
    }
    if (form == 4)
        MPI_Probe(1 - me, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(bytes, (int)room, MPI_BYTE, is_any ? MPI_ANY_SOURCE : 1 - me, is_any ? MPI_ANY_TAG : tag, MPI_COMM_WORLD,
             form > 6 ? MPI_STATUS_IGNORE : &statuses[kept]);
    if (form > 6)
        return;
    status_counts[kept] = (int)length;
    check(statuses[kept].MPI_TAG == tag && statuses[kept].MPI_SOURCE == 1 - me, "the status names the message");
}

static void step_message(void)
{
    int sender = (int)plan_random(2), tag = (int)(messages++ % 30000);
    struct part from = plan_part(sender), to = plan_part(1 - sender);
    size_t room = plan_length(to.slot->length - to.offset), most = from.slot->length - from.offset;
    size_t length = room < most ? room : most, send_form = plan_random(12), receive_form = plan_random(14);
    if (plan_random(4) == 0)
        length = plan_random(length + 1); /* shorter than the room */
    memcpy(to.slot->model[1 - sender] + to.offset, from.slot->model[sender] + from.offset, length);
    from.slot->is_pending[sender] = send_form == 1;
    to.slot->is_pending[1 - sender] = receive_form == 1;
    if (sender == me)
        message_send(from, length, tag, send_form);
    else
        message_receive(to, room, length, tag, receive_form);
}

/* Both ways at once, each rank's parts in different slots. */
static void step_exchange(void)
{
    struct part from[2], to[2];
    size_t most = SIZE_MAX;
    for (int rank = 0; rank < 2; rank++) {
        from[rank] = plan_part(rank);
        to[rank] = plan_part(rank);
        if (from[rank].slot == to[rank].slot)
            return;
        size_t from_most = from[rank].slot->length - from[rank].offset,
               to_most = to[rank].slot->length - to[rank].offset;
        most = from_most < most ? from_most : most;
        most = to_most < most ? to_most : most;
    }
    size_t length = plan_length(most);
    unsigned char *sent = malloc(length + 1); /* what rank 0 sends, before it receives */
    memcpy(sent, from[0].slot->model[0] + from[0].offset, length);
    memcpy(to[0].slot->model[0] + to[0].offset, from[1].slot->model[1] + from[1].offset, length);
    memcpy(to[1].slot->model[1] + to[1].offset, sent, length);
    free(sent);
    MPI_Sendrecv(from[me].slot->actual + from[me].offset, (int)length, MPI_BYTE, 1 - me, 30001,
                 to[me].slot->actual + to[me].offset, (int)length, MPI_BYTE, 1 - me, 30001, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void step_write(unsigned seed)
{
    int rank = (int)plan_random(2);
    struct part part = plan_part(rank);
    slot_write(part.slot, rank, part.offset, plan_length(part.slot->length - part.offset), seed);
}

static void step_check(void)
{
    int rank = (int)plan_random(2);
    struct part part = plan_part(rank);
    size_t length = plan_length(part.slot->length - part.offset);
    if (rank == me)
        slot_check(part.slot, part.offset, length);
}

static void step_statuses(void)
{
    for (int i = 0; i < STATUS_COUNT; i++) {
        MPI_Status copy = statuses[i];
        if (status_counts[i] >= 0)
            status_check(&copy, status_counts[i]);
    }
}

/* Frees or resizes a heap slot, perhaps with ops pending on it. */
static void step_heap(void)
{
    struct slot *slot = &slots[STRIDE_SLOTS + plan_random(HEAP_SLOTS)];
    size_t length = 1000 + plan_random(300000), kept = length < slot->length ? length : slot->length;
    bool is_resized = plan_random(2);
    for (int rank = 0; rank < 2; rank++) {
        slot_settle(slot, rank);
        slot->model[rank] = realloc(slot->model[rank], length);
    }
    if (!is_resized) {
        free(slot->actual);
        slot->actual = NULL;
        kept = 0;
    }
    slot->actual = realloc(slot->actual, length);
    slot->length = length;
    for (int rank = 0; rank < 2; rank++)
        slot_write(slot, rank, kept, length - kept, (unsigned)length);
}

static void step_collective(void)
{
    struct part part;
    size_t length, which = plan_random(3);
    int root = (int)plan_random(2);
    part.slot = &slots[plan_random(SLOT_COUNT)];
    part.offset = plan_random(part.slot->length);
    length = plan_length(part.slot->length - part.offset);
    slot_settle(part.slot, 0);
    slot_settle(part.slot, 1);
    if (which == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    if (which != 1)
        return;
    memcpy(part.slot->model[1 - root] + part.offset, part.slot->model[root] + part.offset, length);
    MPI_Bcast(part.slot->actual + part.offset, (int)length, MPI_BYTE, root, MPI_COMM_WORLD);
}

static void step_run(unsigned step)
{
    size_t choice = plan_random(100);
    if (choice < 50)
        step_message();
    else if (choice < 60)
        step_exchange();
    else if (choice < 75)
        step_write(step);
    else if (choice < 90)
        step_check();
    else if (choice < 94)
        step_heap();
    else if (choice < 97)
        step_collective();
    else
        step_statuses();
}

static uint64_t slots_finish(void)
{
    uint64_t digest = 0xcbf29ce484222325u; /* FNV-1a */
    for (int i = 0; i < SLOT_COUNT; i++) {
        slot_settle(&slots[i], me);
        slot_check(&slots[i], 0, slots[i].length);
        for (size_t at = 0; at < slots[i].length; at++)
            digest = (digest ^ slots[i].actual[at]) * 0x100000001b3u;
    }
    return digest;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    long steps = argc > 1 && strcmp(argv[1], "short") != 0 ? atol(argv[1]) : SHORT_STEPS;
    unsigned long long digests[2], seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    me = check_rank();
    random_state = seed;
    for (int i = 0; i < STATUS_COUNT; i++)
        status_counts[i] = -1;
    slots_start();
    for (long step = 0; step < steps; step++)
        step_run((unsigned)step);
    digests[me] = slots_finish();
    MPI_Bcast(&digests[0], 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    MPI_Bcast(&digests[1], 1, MPI_UNSIGNED_LONG_LONG, 1, MPI_COMM_WORLD);
    if (me == 0)
        printf("steps %ld seed %llu messages %ld digests %016llx %016llx\n", steps, seed, messages, digests[0],
               digests[1]);
    return check_end();
}
