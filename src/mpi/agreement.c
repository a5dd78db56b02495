/* SPDX-License-Identifier: MIT */
/* A rank that lacks Lapwing takes part in nothing, and a message to it could match a receive of its program. So who has
 * Lapwing is first asked of the launcher's store (job/store.h), and only ranks that have offered the same speak with
 * each other. They do so along a tree, so that none asks the store for more than its neighbours there, however many
 * ranks there are: each says upwards whether it and all below it are able, and lie on one host, and rank 0 answers
 * whether all do.
 *
 * No rank waits for one that does not answer. Both ends know from the store that the other has offered the same: what
 * was offered is there for both once it is settled. A rank that reads another text than its own, or none, neither sends
 * there nor waits, and nor does the other end.
 *
 * No receive of the program can match these messages. Both ends are still in MPI_Init, and their programs have posted
 * nothing; each message has been received before MPI_Init returns there; and since messages do not overtake each other,
 * what a program sends next comes after. Nor does a tool see them that defines MPI_Send() and its kin itself. */
#include "mpi/agreement.h"

#include "abi.h"
#include "base/clock.h"
#include "base/launch.h"
#include "base/options.h"
#include "bind/bind.h"
#include "engine/gate.h"
#include "job/fingerprint.h"
#include "job/store.h"
#include "mpi/real.h"
#include "op/observer.h"
#include "record/record.h"

/* Any that every MPI allows. The messages are empty: MPICH 4.0 leaves the length of what a request once received in the
 * status of a later one that fails. */
enum { TAG_FIRST = 19520, CHILDREN = 2 };

/* Each says more than the one before. Its tag is TAG_FIRST and this. */
enum answer { ANSWER_UNABLE, ANSWER_ABLE, ANSWER_ABLE_ON_ONE_HOST };

/* MPI's own functions. */
struct own {
    __typeof__(real.MPI_Comm_size) comm_size;
    __typeof__(real.MPI_Comm_rank) comm_rank;
    __typeof__(real.MPI_Send) send;
    __typeof__(real.MPI_Isend) isend;
    __typeof__(real.MPI_Irecv) irecv;
    __typeof__(real.MPI_Test) test;
};

/* Written in MPI_Init, before the program can ask. */
static struct {
    struct own own;
    char fingerprint[FINGERPRINT_BYTES]; /* "": nothing is offered */
    bool is_whole;
    bool is_on_one_host;
} agreement;

bool agreement_is_whole(void)
{
    return agreement.is_whole;
}

bool agreement_is_on_one_host(void)
{
    return agreement.is_on_one_host;
}

bool agreement_is_sought(void)
{
    return agreement.fingerprint[0] != '\0';
}

static bool own_find(struct own *own)
{
    own->comm_size = bind_library_symbol("PMPI_Comm_size");
    own->comm_rank = bind_library_symbol("PMPI_Comm_rank");
    own->send = bind_library_symbol("PMPI_Send");
    own->isend = bind_library_symbol("PMPI_Isend");
    own->irecv = bind_library_symbol("PMPI_Irecv");
    own->test = bind_library_symbol("PMPI_Test");
    return own->comm_size != NULL && own->comm_rank != NULL && own->send != NULL && own->isend != NULL &&
           own->irecv != NULL && own->test != NULL;
}

/* A tool may show the program a part of the processes only: the others may never come here. */
static bool own_world_is(int size, int *rank)
{
    int own_size;
    agreement.own.comm_size(abi_handles.comm_world, &own_size);
    agreement.own.comm_rank(abi_handles.comm_world, rank);
    return own_size == size;
}

/* Lets others have the core: where ranks share cores, most of them wait here for what a few have to do. Looks at first
 * without a pause, and then waits a quarter longer than needed at most. */
static int request_await(MPI_Request *request, MPI_Status *status)
{
    enum { EAGER_NS = 100000, PART = 4, PAUSE_NS_MOST = 5000000 };
    int64_t begin_ns = base_clock_now_ns();
    for (;;) {
        int is_over = 0;
        int result = agreement.own.test(request, &is_over, status);
        if (is_over || result != MPI_SUCCESS)
            return result;
        int64_t waited_ns = base_clock_now_ns() - begin_ns;
        int64_t pause_ns = waited_ns / PART;
        if (waited_ns > EAGER_NS)
            base_clock_pause(pause_ns < PAUSE_NS_MOST ? pause_ns : PAUSE_NS_MOST);
    }
}

static enum answer answer_receive(int peer)
{
    MPI_Request request;
    MPI_Status status = {.MPI_TAG = TAG_FIRST};
    int result = agreement.own.irecv(NULL, 0, abi_handles.byte, peer, MPI_ANY_TAG, abi_handles.comm_world, &request);
    if (result == MPI_SUCCESS)
        result = request_await(&request, &status);
    return result == MPI_SUCCESS ? (enum answer)(status.MPI_TAG - TAG_FIRST) : ANSWER_UNABLE;
}

static void answer_send(int peer, enum answer answer)
{
    agreement.own.send(NULL, 0, abi_handles.byte, peer, TAG_FIRST + (int)answer, abi_handles.comm_world);
}

static enum answer answer_both(enum answer one, enum answer other)
{
    return one < other ? one : other;
}

/* The ranks below one in the tree. is_like: has offered the same; asked once. greetings: under way to those. */
struct children {
    int first;
    int count;
    bool is_like[CHILDREN];
    MPI_Request greetings[CHILDREN];
};

static struct children children_of(int rank, int size)
{
    struct children children = {.first = CHILDREN * rank + 1};
    int left = size - children.first;
    children.count = left < 0 ? 0 : left < CHILDREN ? left : CHILDREN;
    return children;
}

/* A rank sends before it waits. Until a process has begun a connection, Open MPI looks for those of others only every
 * 10 ms (opal_progress_set_event_poll_rate() in ompi_mpi_init.c; mca_btl_tcp_add_procs() ends that). The content says
 * nothing. Nonblocking: a tool, or a setting of UCX's, may make each send wait for its receive. */
static void children_greet(struct children *children)
{
    for (int i = 0; i < children->count; i++) {
        int child = children->first + i;
        children->is_like[i] = store_is_same(child);
        if (children->is_like[i])
            agreement.own.isend(NULL, 0, abi_handles.byte, child, TAG_FIRST, abi_handles.comm_world,
                                &children->greetings[i]);
    }
}

/* What all below say, and this rank. */
static enum answer children_hear(const struct children *children, enum answer own)
{
    for (int i = 0; i < children->count; i++)
        own = answer_both(own, children->is_like[i] ? answer_receive(children->first + i) : ANSWER_UNABLE);
    return own;
}

/* Only those that have spoken wait for it. */
static void children_tell(struct children *children, enum answer answer)
{
    MPI_Status status;
    for (int i = 0; i < children->count; i++) {
        if (!children->is_like[i])
            continue;
        request_await(&children->greetings[i], &status);
        answer_send(children->first + i, answer);
    }
}

/* What rank 0 says for all. Whoever finds another above it than itself knows that not all are alike. */
static enum answer parent_ask(int rank, enum answer answer)
{
    int parent = (rank - 1) / CHILDREN;
    if (rank == 0)
        return answer;
    if (!store_is_same(parent))
        return ANSWER_UNABLE;
    answer_send(parent, answer);
    answer_receive(parent); /* its greeting */
    return answer_receive(parent);
}

static enum answer tree_settle(int rank, int size, enum answer own)
{
    struct children children = children_of(rank, size);
    children_greet(&children);
    enum answer answer = parent_ask(rank, children_hear(&children, own));
    children_tell(&children, answer);
    return answer;
}

/* Where all calls are passed nobody will ask. But in a profile, too, ranks may have to meet at the end
 * (mpi/quiet_end.c). */
static bool agreement_is_wanted(void)
{
    bool is_asked = observer.is_wanted() ? abi_ends_deaf() : options.progress != OPTION_PROGRESS_OFF;
    return is_asked && !abi_forbids_tests();
}

void agreement_offer(void)
{
    if (agreement_is_wanted() && fingerprint_write(agreement.fingerprint))
        store_offer(agreement.fingerprint, ABI_SPEAKS_PMI);
}

void agreement_settle(int rank, int size, bool is_able)
{
    if (!store_is_settled() || size < 2)
        return;
    enum answer own = is_able ? ANSWER_ABLE : ANSWER_UNABLE;
    if (is_able && base_launch_local_ranks() == size)
        own = ANSWER_ABLE_ON_ONE_HOST;
    gate_enter();
    bool is_possible = own_find(&agreement.own) && own_world_is(size, &rank);
    enum answer answer = is_possible ? tree_settle(rank, size, own) : ANSWER_UNABLE;
    gate_leave();
    agreement.is_whole = answer != ANSWER_UNABLE;
    agreement.is_on_one_host = answer == ANSWER_ABLE_ON_ONE_HOST;
    record_count(RECORD_WHOLE, agreement.is_whole);
}
