/* SPDX-License-Identifier: MIT */
/* Claim: whatever a program does between many pending sends and receives, it
 * sees what it would see if each had been complete when its call returned.
 *
 * The first thread plays the program: it starts transfers in random places,
 * reads and writes at random, and compares with a model. A second one plays the
 * engine: it delivers messages, checks what it sends, and releases. */
#include "base/pages.h"
#include "hold_test.h"

enum { PAGE = 4096, SLOTS = 16, SLOT_BYTES = 24 * PAGE, ROUNDS = 20000 };

enum transfer_state { IDLE, PENDING };

/* One transfer at a time lives in each slot; slots share no page. */
struct transfer {
    _Atomic int state; /* PENDING: set by the program; IDLE: set by the engine */
    enum hold_kind kind;
    size_t offset;
    size_t length_bytes;
    size_t arrived_bytes;
    char value;
    struct hold *hold;
};

static struct transfer transfers[SLOTS];
static char *memory;
static char *model;
static _Atomic bool is_over;

static uint32_t random_next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

static void transfer_finish(struct transfer *transfer)
{
    char *place = protect_hold_transfer_address(transfer->hold);
    inside_begin();
    if (transfer->kind == HOLD_NO_ACCESS)
        memset(place, transfer->value, transfer->arrived_bytes);
    else
        for (size_t i = 0; i < transfer->length_bytes; i++)
            check(place[i] == transfer->value, "what is sent is what stood there at the call");
    inside_end();
    protect_hold_release(transfer->hold);
    atomic_store(&transfer->state, IDLE);
}

static void *engine_run(void *argument)
{
    uint64_t seed = 99;
    (void)argument;
    while (!atomic_load(&is_over)) {
        struct transfer *transfer = &transfers[random_next(&seed) % SLOTS];
        if (atomic_load(&transfer->state) == PENDING)
            transfer_finish(transfer);
        protect_hold_events_read();
    }
    return NULL;
}

/* Only a send that fills a page can move. */
static enum hold_kind kind_choose(struct range bytes, uint64_t *seed)
{
    bool may_move = protect_copies_touched() && !base_range_is_empty(base_pages_within(bytes));
    if (random_next(seed) % 2)
        return HOLD_NO_ACCESS;
    return may_move && random_next(seed) % 2 ? HOLD_COPY_ON_TOUCH : HOLD_NO_WRITE;
}

static void transfer_start(int slot, uint64_t *seed)
{
    struct transfer *transfer = &transfers[slot];
    size_t base = (size_t)slot * SLOT_BYTES;
    transfer->offset = base + random_next(seed) % (SLOT_BYTES / 2);
    transfer->length_bytes = 1 + random_next(seed) % (SLOT_BYTES / 2);
    transfer->kind = kind_choose(base_range_of(memory + transfer->offset, transfer->length_bytes), seed);
    transfer->arrived_bytes = random_next(seed) % (transfer->length_bytes + 1);
    transfer->value = (char)random_next(seed);
    bool is_receive = transfer->kind == HOLD_NO_ACCESS;
    size_t changed_bytes = is_receive ? transfer->arrived_bytes : transfer->length_bytes;
    if (!is_receive)
        memset(memory + transfer->offset, transfer->value, changed_bytes);
    memset(model + transfer->offset, transfer->value, changed_bytes);
    transfer->hold = hold_arm(transfer->kind, memory + transfer->offset, transfer->length_bytes, (uint64_t)slot + 1);
    atomic_store(&transfer->state, PENDING);
}

static void access_somewhere(uint64_t *seed)
{
    size_t place = random_next(seed) % (SLOTS * SLOT_BYTES);
    check(memory[place] == model[place], "the program sees what it would see without holds");
    if (random_next(seed) % 2 == 0)
        memory[place] = model[place] = (char)place;
}

int main(int argument_count, char **arguments)
{
    uint64_t seed = 1;
    pthread_t engine;
    backend_start(argument_count, arguments);
    memory = memory_map(SLOTS * SLOT_BYTES);
    model = memory_map(SLOTS * SLOT_BYTES);
    pthread_create(&engine, NULL, engine_run, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        int slot = (int)(random_next(&seed) % SLOTS);
        protect_threads_set(round % 2);
        if (atomic_load(&transfers[slot].state) == IDLE)
            transfer_start(slot, &seed);
        access_somewhere(&seed);
    }
    for (size_t i = 0; i < SLOTS * SLOT_BYTES; i++)
        check(memory[i] == model[i], "the program sees what it would see without holds");
    atomic_store(&is_over, true);
    pthread_join(engine, NULL);
    return 0;
}
