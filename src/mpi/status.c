/* SPDX-License-Identifier: MIT */
#include "mpi/status.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "mpi/dispatch.h"
#include "mpi/native.h"

#define STATUS_MARK (UINT64_C(0xB) << 60)
#define STATUS_MARK_MASK (UINT64_C(0xF) << 60)
enum { NUMBER_BITS = 27, NUMBERS = 1 << NUMBER_BITS, NUMBER_SHIFT = 33 };
enum { GROUP_BITS = 16, GROUP_NUMBERS = 1 << GROUP_BITS, GROUPS = NUMBERS >> GROUP_BITS };
enum { SURPRISES_MAX = 4 << 20 }; /* 32 MiB */

/* What a receive's status turned out to be, by the receive's number: 0 when the
 * message was as long as its buffer, else the hidden bits with the mark over them
 * (no real value carries it, so this is never 0). Never removed: a copy of a
 * status may be asked at any later time. Pages appear as they are written. */
struct surprises {
    _Atomic uint64_t marked[GROUP_NUMBERS];
};

/* next_number: the starting threads. groups: they, or whoever ends an op; read by
 * accessors. count: whoever ends an op. */
static struct {
    _Atomic uint32_t next_number;
    _Atomic uint32_t count;
    _Atomic(struct surprises *) groups[GROUPS];
} statuses = {.next_number = 1};

static struct surprises *surprises_new(_Atomic(struct surprises *) *group)
{
    enum { PROTECTION = PROT_READ | PROT_WRITE, FLAGS = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };
    struct surprises *known = NULL;
    void *made = mmap(NULL, sizeof(struct surprises), PROTECTION, FLAGS, -1, 0);
    if (made == MAP_FAILED)
        return NULL;
    /* release: who finds the group finds its zeros. */
    if (atomic_compare_exchange_strong_explicit(group, &known, made, memory_order_release, memory_order_acquire))
        return made;
    munmap(made, sizeof(struct surprises));
    return known;
}

/* The group of a number; NULL when there is no memory for it. */
static struct surprises *surprises_of(uint32_t number)
{
    _Atomic(struct surprises *) *group = &statuses.groups[number >> GROUP_BITS];
    struct surprises *known = atomic_load_explicit(group, memory_order_acquire);
    return known != NULL ? known : surprises_new(group);
}

bool status_can_promise(void)
{
    /* Room for every receive that may begin before this one gets its number, and
     * memory for all of them: nothing may be lacking when they end. */
    uint32_t last = atomic_load_explicit(&statuses.next_number, memory_order_relaxed) + TRANSFERS_MAX;
    return last < NUMBERS && atomic_load_explicit(&statuses.count, memory_order_relaxed) < SURPRISES_MAX &&
           surprises_of(last - TRANSFERS_MAX) != NULL && surprises_of(last) != NULL;
}

static uint32_t expected_clip(uint64_t bytes)
{
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

uint32_t status_promise(MPI_Status *status, int source, int tag, uint64_t expected_bytes)
{
    uint32_t number = atomic_fetch_add_explicit(&statuses.next_number, 1, memory_order_relaxed);
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    abi_status_hidden_set(status, STATUS_MARK | ((uint64_t)number << NUMBER_SHIFT) | expected_clip(expected_bytes));
    return number;
}

static int64_t status_bytes(const MPI_Status *status)
{
    int bytes = MPI_UNDEFINED;
    real.MPI_Get_count(status, abi_handles.byte, &bytes);
    return bytes;
}

/* A count that no int holds is always kept: whoever asks need not compute it. */
void status_settle(uint32_t number, uint64_t expected_bytes, const MPI_Status *real_status)
{
    struct surprises *surprises = surprises_of(number);
    if (expected_bytes <= INT32_MAX && status_bytes(real_status) == (int64_t)expected_bytes)
        return;
    if (surprises == NULL)
        return; /* status_can_promise() made it */
    atomic_fetch_add_explicit(&statuses.count, 1, memory_order_relaxed);
    /* relaxed: an accessor has seen the op's end or its number gone, which are released after this. */
    atomic_store_explicit(&surprises->marked[number % GROUP_NUMBERS], abi_status_hidden_get(real_status) ^ STATUS_MARK,
                          memory_order_relaxed);
}

/* The marked hidden bits of a surprise, 0 when there is none. */
static uint64_t status_surprise(uint32_t number)
{
    struct surprises *surprises = surprises_of(number);
    return surprises == NULL ? 0
                             : atomic_load_explicit(&surprises->marked[number % GROUP_NUMBERS], memory_order_relaxed);
}

static uint64_t status_pending_op(uint32_t number)
{
    for (uint32_t slot = 0; slot < TRANSFERS_MAX; slot++) {
        uint64_t id = transfer_id(slot);
        /* acquire: who finds the number gone finds its surprise. */
        if (id != 0 && atomic_load_explicit(&native_slots[slot].status_number, memory_order_acquire) == number)
            return id;
    }
    return 0;
}

/* The message was as long as the buffer: MPI itself writes the hidden part. */
static void status_fulfil(MPI_Status *status, uint32_t bytes)
{
    abi_status_hidden_set(status, 0);
    real.MPI_Status_set_elements(status, abi_handles.byte, (int)bytes);
}

const MPI_Status *status_settled(const MPI_Status *status, MPI_Status *storage)
{
    uint64_t hidden;
    if (status_is_ignored(status) || ((hidden = abi_status_hidden_get(status)) & STATUS_MARK_MASK) != STATUS_MARK)
        return status;
    uint32_t number = (uint32_t)(hidden >> NUMBER_SHIFT) & (NUMBERS - 1);
    uint64_t id = status_pending_op(number);
    if (id != 0)
        transfer_wait(id);
    uint64_t marked = status_surprise(number);
    *storage = *status;
    if (marked != 0)
        abi_status_hidden_set(storage, marked ^ STATUS_MARK);
    else
        status_fulfil(storage, (uint32_t)hidden);
    return storage;
}

void status_settle_in_place(MPI_Status *status)
{
    MPI_Status storage;
    if (status_settled(status, &storage) == &storage)
        *status = storage;
}

MPI_Count status_length_bytes(const MPI_Status *status)
{
    MPI_Count bytes = MPI_UNDEFINED;
    real.MPI_Get_elements_x(status, abi_handles.byte, &bytes);
    return bytes;
}

uint64_t status_came_bytes(const MPI_Status *status, uint64_t room_bytes)
{
    MPI_Count bytes = status_length_bytes(status);
    return bytes >= 0 ? (uint64_t)bytes : room_bytes;
}

void status_copy(MPI_Status *status, const MPI_Status *real_status)
{
    if (status_is_ignored(status))
        return;
    int error = status->MPI_ERROR;
    *status = *real_status;
    status->MPI_ERROR = error;
}
