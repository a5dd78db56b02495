/* SPDX-License-Identifier: MIT */
#include "statuses.h"

#include <stdatomic.h>

#include "base/lock.h"
#include "dispatch.h"
#include "native.h"

#define STATUS_MARK (UINT64_C(0xB) << 60)
#define STATUS_MARK_MASK (UINT64_C(0xF) << 60)
enum { NUMBER_BITS = 28, NUMBER_SHIFT = 32, SURPRISES_MAX = 65536 };

/* Receives whose message was not as long as the buffer: the exact status.
 * next_number: the starting threads; surprises: whoever ends an op writes,
 * accessors read, under `lock`. Never removed: a copy of the status may be
 * asked at any later time. */
static struct {
    _Atomic uint32_t next_number;
    struct base_lock lock;
    _Atomic uint32_t surprise_count;
    uint32_t numbers[SURPRISES_MAX];
    MPI_Status surprises[SURPRISES_MAX];
} statuses = {.next_number = 1};

bool statuses_can_promise(uint64_t bytes)
{
    /* Room for every receive that may be pending when the table is nearly full. */
    return bytes <= UINT32_MAX &&
           atomic_load_explicit(&statuses.next_number, memory_order_relaxed) < (1U << NUMBER_BITS) - TRANSFERS_MAX &&
           atomic_load_explicit(&statuses.surprise_count, memory_order_relaxed) < SURPRISES_MAX - TRANSFERS_MAX;
}

uint32_t statuses_promise(MPI_Status *status, int source, int tag, uint64_t expected_bytes)
{
    uint32_t number = atomic_fetch_add_explicit(&statuses.next_number, 1, memory_order_relaxed);
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    abi_status_hidden_set(status, STATUS_MARK | ((uint64_t)number << NUMBER_SHIFT) | expected_bytes);
    return number;
}

static int64_t status_bytes(const MPI_Status *status)
{
    int bytes = MPI_UNDEFINED;
    real.MPI_Get_count(status, abi_handles.byte, &bytes);
    return bytes;
}

void statuses_settle(uint32_t number, uint64_t expected_bytes, const MPI_Status *real_status)
{
    if (expected_bytes <= INT32_MAX && status_bytes(real_status) == (int64_t)expected_bytes)
        return;
    base_lock_take(&statuses.lock);
    uint32_t index = atomic_load_explicit(&statuses.surprise_count, memory_order_relaxed);
    statuses.numbers[index] = number;
    statuses.surprises[index] = *real_status;
    atomic_store_explicit(&statuses.surprise_count, index + 1, memory_order_relaxed);
    base_lock_release(&statuses.lock);
}

static const MPI_Status *status_surprise(uint32_t number)
{
    const MPI_Status *found = NULL;
    base_lock_take(&statuses.lock);
    uint32_t count = atomic_load_explicit(&statuses.surprise_count, memory_order_relaxed);
    for (uint32_t i = count; i-- > 0 && found == NULL;) {
        if (statuses.numbers[i] == number)
            found = &statuses.surprises[i];
    }
    base_lock_release(&statuses.lock);
    return found; /* entries are never moved or changed */
}

static uint64_t status_pending_op(uint32_t number)
{
    for (uint32_t slot = 0; slot < TRANSFERS_MAX; slot++) {
        uint64_t id = transfer_id(slot);
        if (id != 0 && natives[slot].status_number == number)
            return id;
    }
    return 0;
}

/* The message was as long as the buffer: MPI itself writes the hidden part. */
static void status_fulfil(MPI_Status *status, uint32_t bytes)
{
    abi_status_hidden_set(status, 0);
    if (bytes <= INT32_MAX)
        real.MPI_Status_set_elements(status, abi_handles.byte, (int)bytes);
    else
        real.MPI_Status_set_elements_x(status, abi_handles.byte, bytes);
    real.MPI_Status_set_cancelled(status, 0);
}

static void status_copy_surprise(MPI_Status *storage, const MPI_Status *surprise)
{
    /* Where "cancelled" is not part of the hidden bits, the program's variable
     * may hold anything; a receive of ours is never cancelled. */
    real.MPI_Status_set_cancelled(storage, 0);
    abi_status_hidden_set(storage, abi_status_hidden_get(surprise));
}

const MPI_Status *dispatch_settle_status(const MPI_Status *status, MPI_Status *storage)
{
    uint64_t hidden;
    if (status_is_ignored(status) || ((hidden = abi_status_hidden_get(status)) & STATUS_MARK_MASK) != STATUS_MARK)
        return status;
    uint32_t number = (uint32_t)(hidden >> NUMBER_SHIFT) & ((1U << NUMBER_BITS) - 1);
    uint64_t id = status_pending_op(number);
    if (id != 0)
        transfer_wait(id);
    const MPI_Status *surprise = status_surprise(number);
    *storage = *status;
    if (surprise != NULL)
        status_copy_surprise(storage, surprise);
    else
        status_fulfil(storage, (uint32_t)hidden);
    return storage;
}

void statuses_copy(MPI_Status *status, const MPI_Status *real_status)
{
    if (status_is_ignored(status))
        return;
    int error = status->MPI_ERROR;
    *status = *real_status;
    status->MPI_ERROR = error;
}
