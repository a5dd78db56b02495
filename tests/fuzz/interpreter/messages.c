/* SPDX-License-Identifier: MIT */
/* Point-to-point calls that block, and statuses. */
#include <string.h>

#include "machine.h"

static MPI_Status statuses[STATUSES_MAX];
static MPI_Message matched[MATCHED_MAX];

int message_peer(int64_t word)
{
    if (word == PEER_ANY)
        return MPI_ANY_SOURCE;
    return word == PEER_NULL ? MPI_PROC_NULL : (int)word;
}

int message_tag(int64_t word)
{
    return word == TAG_ANY ? MPI_ANY_TAG : (int)word;
}

struct message message_read(const int64_t *words)
{
    return (struct message){
        .bytes = memory_at(words[0], words[1]),
        .count = (int)words[2],
        .type_index = (int)words[3],
        .type = types_table[words[3]],
        .peer = message_peer(words[4]),
        .tag = message_tag(words[5]),
        .comm = comms_table[words[6]],
    };
}

void statuses_begin(void)
{
    memset(statuses, 0, sizeof statuses);
}

/* A field that MPI leaves alone is seen as this byte. */
void statuses_clear(MPI_Status *list, size_t count)
{
    memset(list, 0x3B, count * sizeof *list);
}

MPI_Status *statuses_take(int64_t status)
{
    if (status == STATUS_IGNORED)
        return MPI_STATUS_IGNORE;
    if (status < 0 || status >= STATUSES_MAX)
        machine_refuse("no such status");
    statuses_clear(&statuses[status], 1);
    return &statuses[status];
}

static void status_observe_counts(const MPI_Status *status, int64_t type)
{
    int count = -77, elements = -77, is_cancelled = -77;
    machine_observe_result(MPI_Get_count(status, types_table[type], &count));
    if (!types_is_mixed[type])
        machine_observe_result(MPI_Get_elements(status, types_table[type], &elements));
    machine_observe_result(MPI_Test_cancelled(status, &is_cancelled));
    machine_observe((uint64_t)count);
    machine_observe((uint64_t)elements);
    machine_observe((uint64_t)is_cancelled);
}

void statuses_observe(const MPI_Status *status, int64_t type)
{
    machine_observe((uint64_t)status->MPI_SOURCE);
    machine_observe((uint64_t)status->MPI_TAG);
    status_observe_counts(status, type);
}

/* status slot type: perhaps long after its call, perhaps a copy */
static void run_status(const int64_t *a)
{
    MPI_Status copy = statuses[a[0]];
    statuses_observe(a[0] % 2 ? &copy : &statuses[a[0]], a[1]);
}

typedef int send_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm);

#if MPI_VERSION >= 4
typedef int send_large_fn(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm);

static int send_large(int64_t mode, const struct message *m)
{
    static send_large_fn *const sends[] = {MPI_Send_c, MPI_Ssend_c, MPI_Bsend_c, MPI_Rsend_c};
    return sends[mode](m->bytes, m->count, m->type, m->peer, m->tag, m->comm);
}

static int recv_large(const struct message *m, MPI_Status *status)
{
    return MPI_Recv_c(m->bytes, m->count, m->type, m->peer, m->tag, m->comm, status);
}
#else
static int send_large(int64_t mode, const struct message *m)
{
    static send_fn *const sends[] = {MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Rsend};
    return sends[mode](m->bytes, m->count, m->type, m->peer, m->tag, m->comm);
}

static int recv_large(const struct message *m, MPI_Status *status)
{
    return MPI_Recv(m->bytes, m->count, m->type, m->peer, m->tag, m->comm, status);
}
#endif

/* send mode large message */
static void run_send(const int64_t *a)
{
    static send_fn *const sends[] = {MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Rsend};
    struct message m = message_read(a + 2);
    machine_observe_result(a[1] ? send_large(a[0], &m) : sends[a[0]](m.bytes, m.count, m.type, m.peer, m.tag, m.comm));
}

/* recv large message status */
static void run_recv(const int64_t *a)
{
    struct message m = message_read(a + 1);
    MPI_Status *status = statuses_take(a[1 + MESSAGE_WORDS]);
    machine_observe_result(a[0] ? recv_large(&m, status)
                                : MPI_Recv(m.bytes, m.count, m.type, m.peer, m.tag, m.comm, status));
}

/* sendrecv message message status */
static void run_sendrecv(const int64_t *a)
{
    struct message s = message_read(a), r = message_read(a + MESSAGE_WORDS);
    MPI_Status *status = statuses_take(a[2 * MESSAGE_WORDS]);
    machine_observe_result(
        MPI_Sendrecv(s.bytes, s.count, s.type, s.peer, s.tag, r.bytes, r.count, r.type, r.peer, r.tag, r.comm, status));
}

/* replace message source tag status */
static void run_replace(const int64_t *a)
{
    struct message m = message_read(a);
    MPI_Status *status = statuses_take(a[MESSAGE_WORDS + 2]);
    machine_observe_result(MPI_Sendrecv_replace(m.bytes, m.count, m.type, m.peer, m.tag, message_peer(a[MESSAGE_WORDS]),
                                                message_tag(a[MESSAGE_WORDS + 1]), m.comm, status));
}

/* probe how source tag comm type: `how` 1 polls; 2 more: the status was not of a cancelled message (MPICH's probes
 * leave that mark alone, which an answer of Lapwing's does not) */
static void run_probe(const int64_t *a)
{
    MPI_Status status;
    statuses_clear(&status, 1);
    if (a[0] & 2)
        MPI_Status_set_cancelled(&status, 0);
    MPI_Comm comm = comms_table[a[3]];
    int result = MPI_SUCCESS, is_there = (a[0] & 1) == 0;
    if (is_there)
        result = MPI_Probe(message_peer(a[1]), message_tag(a[2]), comm, &status);
    while (!is_there && result == MPI_SUCCESS)
        result = MPI_Iprobe(message_peer(a[1]), message_tag(a[2]), comm, &is_there, &status);
    machine_observe_result(result);
    statuses_observe(&status, a[4]);
}

/* absent source tag comm: a probe for what nobody sends */
static void run_absent(const int64_t *a)
{
    int is_there = -1;
    machine_observe_result(
        MPI_Iprobe(message_peer(a[0]), message_tag(a[1]), comms_table[a[2]], &is_there, MPI_STATUS_IGNORE));
    machine_observe((uint64_t)is_there);
}

/* mprobe how slot source tag comm type */
static void run_mprobe(const int64_t *a)
{
    MPI_Status status;
    statuses_clear(&status, 1);
    MPI_Comm comm = comms_table[a[4]];
    int result = MPI_SUCCESS, is_there = a[0] == 0;
    if (is_there)
        result = MPI_Mprobe(message_peer(a[2]), message_tag(a[3]), comm, &matched[a[1]], &status);
    while (!is_there && result == MPI_SUCCESS)
        result = MPI_Improbe(message_peer(a[2]), message_tag(a[3]), comm, &is_there, &matched[a[1]], &status);
    machine_observe_result(result);
    statuses_observe(&status, a[5]);
}

/* mrecv slot buffer offset count type status */
static void run_mrecv(const int64_t *a)
{
    machine_observe_result(
        MPI_Mrecv(memory_at(a[1], a[2]), (int)a[3], types_table[a[4]], &matched[a[0]], statuses_take(a[5])));
    machine_observe(matched[a[0]] == MPI_MESSAGE_NULL);
}

/* imrecv slot request buffer offset count type */
static void run_imrecv(const int64_t *a)
{
    machine_observe_result(
        MPI_Imrecv(memory_at(a[2], a[3]), (int)a[4], types_table[a[5]], &matched[a[0]], requests_take(a[1], a[5])));
    machine_observe(matched[a[0]] == MPI_MESSAGE_NULL);
}

/* truncated message: an error here, or, since errors may come late, at the next call that moves or completes messages
 */
static void run_truncated(const int64_t *a)
{
    struct message m = message_read(a);
    int is_found;
    int result = MPI_Recv(m.bytes, m.count, m.type, m.peer, m.tag, m.comm, MPI_STATUS_IGNORE);
    machine_digest += *(volatile unsigned char *)m.bytes * 0; /* a touch: the op is over */
    if (result == MPI_SUCCESS)
        result = MPI_Iprobe(MPI_PROC_NULL, 0, m.comm, &is_found, MPI_STATUS_IGNORE);
    machine_observe_result(result);
}

/* invalid what buffer comm: wrong arguments */
static void run_invalid(const int64_t *a)
{
    unsigned char *bytes = memory_at(a[1], 0);
    MPI_Comm comm = comms_table[a[2]];
    int result = MPI_SUCCESS;
    if (a[0] == 0)
        result = MPI_Send(bytes, 1, MPI_BYTE, 1000, 0, comm);
    else if (a[0] == 1)
        result = MPI_Recv(bytes, 1, MPI_BYTE, 0, -100, comm, MPI_STATUS_IGNORE);
    else if (a[0] == 2)
        result = MPI_Send(bytes, -5, MPI_BYTE, 0, 0, comm);
    else
        result = MPI_Recv(bytes, 1, MPI_DATATYPE_NULL, 0, 0, comm, MPI_STATUS_IGNORE);
    machine_observe_result(result);
}

/* attach length; detach */
static void run_attach(const int64_t *a)
{
    machine_observe_result(MPI_Buffer_attach(memory_at(a[0], 0), (int)a[1]));
}

static void run_detach(const int64_t *a)
{
    void *bytes = NULL;
    int length_bytes = 0;
    machine_observe_result(MPI_Buffer_detach(&bytes, &length_bytes));
    machine_observe((uint64_t)length_bytes);
    machine_observe(bytes == memory_at(a[0], 0));
    memset(memory_at(a[0], 0), 0, (size_t)length_bytes); /* what MPI has left there is its own */
}

const struct instruction message_instructions[] = {
    {"send", run_send},       {"recv", run_recv},           {"sendrecv", run_sendrecv},
    {"replace", run_replace}, {"probe", run_probe},         {"absent", run_absent},
    {"mprobe", run_mprobe},   {"mrecv", run_mrecv},         {"imrecv", run_imrecv},
    {"status", run_status},   {"truncated", run_truncated}, {"invalid", run_invalid},
    {"attach", run_attach},   {"detach", run_detach},       {NULL, NULL},
};
