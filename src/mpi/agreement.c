/* SPDX-License-Identifier: MIT */
/* A rank that lacks Lapwing takes part in nothing, and a message to it could match a receive of its program. So who has
 * Lapwing is first asked of the launcher's store (job/store.h), and only ranks that have offered what rank 0 has speak
 * with it: each says whether it is able, and rank 0 answers whether all are.
 *
 * No rank waits for one that does not answer. Both ends know from the store that the other has offered the same: what
 * was offered is there for both once it is settled. A rank that reads another text than its own, or none, neither sends
 * nor waits, and nor does the other end.
 *
 * No receive of the program can match these messages. Both ends are still in MPI_Init, and their programs have posted
 * nothing; each message has been received before MPI_Init returns there; and since messages do not overtake each other,
 * what a program sends next comes after. */
#include "mpi/agreement.h"

#include <string.h>

#include "abi.h"
#include "base/options.h"
#include "engine/gate.h"
#include "job/fingerprint.h"
#include "job/store.h"
#include "mpi/real.h"
#include "op/observer.h"
#include "record/record.h"

/* Any that every MPI allows. The messages are empty: MPICH 4.0 leaves the length of what a request once received in the
 * status of a later one that fails. */
enum { TAG_NO = 19520, TAG_YES = 19521 };

/* Written in MPI_Init, before the program can ask. */
static struct {
    char fingerprint[FINGERPRINT_BYTES]; /* "": nothing is offered */
    bool is_whole;
    struct store store;
} agreement;

bool agreement_is_whole(void)
{
    return agreement.is_whole;
}

static bool answer_receive(int peer)
{
    MPI_Status status = {.MPI_TAG = TAG_NO};
    int result = real.MPI_Recv(NULL, 0, abi_handles.byte, peer, MPI_ANY_TAG, abi_handles.comm_world, &status);
    return result == MPI_SUCCESS && status.MPI_TAG == TAG_YES;
}

static void answer_send(int peer, bool is_yes)
{
    real.MPI_Send(NULL, 0, abi_handles.byte, peer, is_yes ? TAG_YES : TAG_NO, abi_handles.comm_world);
}

/* Is everybody here, and able? */
static bool peers_hear(int size)
{
    bool are_able = true;
    for (int peer = 1; peer < size; peer++)
        are_able = store_is_same(&agreement.store, peer) && answer_receive(peer) && are_able;
    return are_able;
}

/* Only those that have spoken wait for it. */
static void peers_tell(int size, bool is_whole)
{
    for (int peer = 1; peer < size; peer++) {
        if (is_whole || store_is_same(&agreement.store, peer))
            answer_send(peer, is_whole);
    }
}

static bool first_settle(int size, bool is_able)
{
    bool is_whole = peers_hear(size) && is_able;
    peers_tell(size, is_whole);
    return is_whole;
}

static bool other_settle(bool is_able)
{
    if (!store_is_same(&agreement.store, 0))
        return false;
    answer_send(0, is_able);
    return answer_receive(0);
}

/* Where all calls are passed nobody will ask. */
void agreement_offer(void)
{
    bool is_wanted = options.progress != OPTION_PROGRESS_OFF && !observer.is_wanted();
    bool speaks_pmi = strcmp(ABI_NAME, "openmpi") != 0;
    if (is_wanted && fingerprint_write(agreement.fingerprint))
        store_offer(&agreement.store, agreement.fingerprint, speaks_pmi);
}

void agreement_settle(int rank, int size, bool is_able)
{
    if (size < 2 || !store_is_settled(&agreement.store))
        return;
    gate_enter();
    agreement.is_whole = rank == 0 ? first_settle(size, is_able) : other_settle(is_able);
    gate_leave();
    record_count(RECORD_WHOLE, agreement.is_whole);
}
