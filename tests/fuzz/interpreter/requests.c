/* SPDX-License-Identifier: MIT */
/* Nonblocking and persistent calls, all ways to wait, and the second thread. */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "machine.h"

struct slot {
    MPI_Request request;
    int64_t type; /* of a receive, whose status means something; else -1 */
};

/* Requests that are waited for together, in their program's order. */
struct group {
    int count;
    MPI_Request requests[REQUESTS_MAX];
    MPI_Status statuses[REQUESTS_MAX];
};

static struct slot slots[REQUESTS_MAX];

void requests_begin(void)
{
    for (int i = 0; i < REQUESTS_MAX; i++)
        slots[i] = (struct slot){MPI_REQUEST_NULL, -1};
}

static struct slot *slot_of(int64_t slot)
{
    if (slot < 0 || slot >= REQUESTS_MAX)
        machine_refuse("no such request");
    return &slots[slot];
}

MPI_Request *requests_take(int64_t slot, int64_t type)
{
    slot_of(slot)->type = type;
    return &slot_of(slot)->request;
}

typedef int isend_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

/* isend mode request message */
static void run_isend(const int64_t *a)
{
    static isend_fn *const sends[] = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
    struct message m = message_read(a + 2);
    machine_observe_result(sends[a[0]](m.bytes, m.count, m.type, m.peer, m.tag, m.comm, requests_take(a[1], -1)));
}

/* irecv request message */
static void run_irecv(const int64_t *a)
{
    struct message m = message_read(a + 1);
    machine_observe_result(MPI_Irecv(m.bytes, m.count, m.type, m.peer, m.tag, m.comm, requests_take(a[0], a[1 + 3])));
}

/* sendinit mode request message */
static void run_sendinit(const int64_t *a)
{
    static isend_fn *const sends[] = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init, MPI_Rsend_init};
    struct message m = message_read(a + 2);
    machine_observe_result(sends[a[0]](m.bytes, m.count, m.type, m.peer, m.tag, m.comm, requests_take(a[1], -1)));
}

/* recvinit request message */
static void run_recvinit(const int64_t *a)
{
    struct message m = message_read(a + 1);
    machine_observe_result(
        MPI_Recv_init(m.bytes, m.count, m.type, m.peer, m.tag, m.comm, requests_take(a[0], a[1 + 3])));
}

/* start request; startall how works too: `all` 1 uses MPI_Startall */
static void run_start(const int64_t *a)
{
    MPI_Request *request = &slot_of(a[1])->request;
    machine_observe_result(a[0] ? MPI_Startall(1, request) : MPI_Start(request));
}

/* release request: an inactive persistent one */
static void run_release(const int64_t *a)
{
    machine_observe_result(MPI_Request_free(&slot_of(a[0])->request));
}

/* idle how request: asks for one that is not active; its status is the empty one */
static void run_idle(const int64_t *a)
{
    MPI_Request *request = &slot_of(a[1])->request;
    MPI_Status status;
    int is_over = 0, index = 0;
    statuses_clear(&status, 1);
    switch (a[0]) {
    case 0:
        machine_observe_result(MPI_Wait(request, &status));
        break;
    case 1:
        machine_observe_result(MPI_Test(request, &is_over, &status));
        break;
    case 2:
        machine_observe_result(MPI_Request_get_status(*request, &is_over, &status));
        break;
    default:
        machine_observe_result(MPI_Waitany(1, request, &index, &status));
        break;
    }
    machine_observe((uint64_t)is_over);
    machine_observe(index == MPI_UNDEFINED);
    statuses_observe(&status, 0);
}

static int wait_each(struct group *g)
{
    int result = MPI_SUCCESS;
    for (int i = 0; i < g->count && result == MPI_SUCCESS; i++)
        result = MPI_Wait(&g->requests[i], &g->statuses[i]);
    return result;
}

static int wait_test_each(struct group *g)
{
    int result = MPI_SUCCESS;
    for (int i = 0; i < g->count; i++) {
        int is_over = 0;
        while (!is_over && result == MPI_SUCCESS)
            result = MPI_Test(&g->requests[i], &is_over, &g->statuses[i]);
    }
    return result;
}

static int wait_all(struct group *g)
{
    return MPI_Waitall(g->count, g->requests, g->statuses);
}

static int wait_any(struct group *g)
{
    int result = MPI_SUCCESS;
    for (int i = 0; i < g->count && result == MPI_SUCCESS; i++) {
        MPI_Status status;
        int index = MPI_UNDEFINED;
        result = MPI_Waitany(g->count, g->requests, &index, &status);
        if (index != MPI_UNDEFINED)
            g->statuses[index] = status;
    }
    return result;
}

static void group_scatter(struct group *g, int count, const int *indices, const MPI_Status *statuses)
{
    for (int i = 0; i < count; i++)
        g->statuses[indices[i]] = statuses[i];
}

static int wait_some(struct group *g)
{
    int result = MPI_SUCCESS, indices[REQUESTS_MAX], count = 0;
    MPI_Status statuses[REQUESTS_MAX];
    for (int done = 0; done < g->count && result == MPI_SUCCESS && count != MPI_UNDEFINED; done += count) {
        result = MPI_Waitsome(g->count, g->requests, &count, indices, statuses);
        group_scatter(g, count == MPI_UNDEFINED ? 0 : count, indices, statuses);
    }
    return result;
}

static int wait_test_all(struct group *g)
{
    int result = MPI_SUCCESS, are_over = 0;
    while (!are_over && result == MPI_SUCCESS)
        result = MPI_Testall(g->count, g->requests, &are_over, g->statuses);
    return result;
}

static int wait_test_any(struct group *g)
{
    int result = MPI_SUCCESS;
    for (int done = 0; done < g->count && result == MPI_SUCCESS;) {
        MPI_Status status;
        int index = MPI_UNDEFINED, is_over = 0;
        result = MPI_Testany(g->count, g->requests, &index, &is_over, &status);
        if (is_over && index == MPI_UNDEFINED)
            return result;
        if (is_over)
            g->statuses[index] = status;
        done += is_over;
    }
    return result;
}

static int wait_test_some(struct group *g)
{
    int result = MPI_SUCCESS, indices[REQUESTS_MAX], count = 0;
    MPI_Status statuses[REQUESTS_MAX];
    for (int done = 0; done < g->count && result == MPI_SUCCESS && count != MPI_UNDEFINED; done += count) {
        result = MPI_Testsome(g->count, g->requests, &count, indices, statuses);
        group_scatter(g, count == MPI_UNDEFINED ? 0 : count, indices, statuses);
    }
    return result;
}

static int wait_get_status(struct group *g)
{
    int result = MPI_SUCCESS;
    for (int i = 0; i < g->count; i++) {
        int is_over = 0;
        while (!is_over && result == MPI_SUCCESS)
            result = MPI_Request_get_status(g->requests[i], &is_over, &g->statuses[i]);
    }
    return result == MPI_SUCCESS ? MPI_Waitall(g->count, g->requests, MPI_STATUSES_IGNORE) : result;
}

static void group_observe(const struct group *g, const int64_t *words)
{
    for (int i = 0; i < g->count; i++) {
        int64_t type = slot_of(words[i])->type;
        slot_of(words[i])->request = g->requests[i];
        machine_observe(g->requests[i] == MPI_REQUEST_NULL);
        if (type >= 0)
            statuses_observe(&g->statuses[i], type);
    }
}

/* wait how count request...: until all are over */
static void run_wait(const int64_t *a)
{
    static int (*const waits[])(struct group *) = {wait_each,     wait_test_each, wait_all,
                                                   wait_any,      wait_some,      wait_test_all,
                                                   wait_test_any, wait_test_some, wait_get_status};
    struct group group = {.count = (int)a[1]};
    statuses_clear(group.statuses, REQUESTS_MAX);
    for (int i = 0; i < group.count; i++)
        group.requests[i] = slot_of(a[2 + i])->request;
    machine_observe_result(waits[a[0]](&group));
    group_observe(&group, a + 2);
}

/* cancel message: a receive that nothing matches */
static void run_cancel(const int64_t *a)
{
    MPI_Request request;
    MPI_Status status;
    int is_cancelled = -1;
    struct message m = message_read(a);
    machine_observe_result(MPI_Irecv(m.bytes, m.count, m.type, m.peer, m.tag, m.comm, &request));
    machine_observe_result(MPI_Cancel(&request));
    machine_observe_result(MPI_Wait(&request, &status));
    MPI_Test_cancelled(&status, &is_cancelled);
    machine_observe((uint64_t)is_cancelled);
}

/* The second thread: at most one, with at most one job. */
static struct {
    bool is_running;
    pthread_t thread;
    instruction_fn *run;
    int64_t arguments[ARGUMENTS_MAX];
    uint64_t digest;
    sem_t wanted, done;
} helper;

static void *helper_loop(void *unused)
{
    for (sem_wait(&helper.wanted); helper.run; sem_wait(&helper.wanted)) {
        machine_digest = 0;
        helper.run(helper.arguments);
        helper.digest = machine_digest;
        sem_post(&helper.done);
    }
    return unused;
}

static void helper_begin(void)
{
    sem_init(&helper.wanted, 0, 0);
    sem_init(&helper.done, 0, 0);
    helper.is_running = true;
    if (pthread_create(&helper.thread, NULL, helper_loop, NULL) != 0)
        machine_refuse("no thread");
}

void helper_start(instruction_fn *run, const int64_t *arguments, int count)
{
    if (!helper.is_running)
        helper_begin();
    helper.run = run;
    memset(helper.arguments, 0, sizeof helper.arguments);
    memcpy(helper.arguments, arguments, (size_t)count * sizeof *arguments);
    sem_post(&helper.wanted);
}

/* join: until the job is over */
static void run_join(const int64_t *a)
{
    (void)a;
    sem_wait(&helper.done);
    machine_observe(helper.digest);
}

void helper_end(void)
{
    if (!helper.is_running)
        return;
    helper.run = NULL;
    sem_post(&helper.wanted);
    pthread_join(helper.thread, NULL);
    helper.is_running = false;
}

const struct instruction request_instructions[] = {
    {"isend", run_isend},       {"irecv", run_irecv}, {"sendinit", run_sendinit},
    {"recvinit", run_recvinit}, {"start", run_start}, {"idle", run_idle},
    {"release", run_release},   {"wait", run_wait},   {"cancel", run_cancel},
    {"join", run_join},         {NULL, NULL},
};
