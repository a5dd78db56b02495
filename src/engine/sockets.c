/* SPDX-License-Identifier: MIT */
/* Epoll sets, edge-triggered: an edge comes whenever data or space arrives,
 * whether or not what came before was read (epoll(7), tcp_data_ready). */
#include "engine/sockets.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/descriptors.h"

enum { EVENTS_MAX = 64, EVENT_SHIFT = 32, UNCHANGED_ROUNDS_MAX = 8 };
enum { GATHER_BYTES_MAX = 262144, ROOM_PART = 4 };
enum { NOTED_MAX = 16384, WORD_BITS = 64 };

/* Epoll sets: `inner` holds the sockets; the engine sleeps on `outer`, which holds
 * `inner`, the wake-ups, the touches and what UCX tells. So one call makes it deaf to all sockets at
 * once. `outgoing` holds the sockets, too, for their room to send alone.
 *
 * A socket that a set holds costs each message that arrives 0.1 us, even while nobody sleeps there. So those that
 * appear before the engine starts are only noted, a bit for each descriptor; a program of small messages alone starts
 * none.
 *
 * inner, outgoing: the set plus 1, made by whoever needs it first (CAS), 0 before.
 * outer, gather_bytes_max: made and written before the engine starts. ucx: UCX's descriptor plus 1, 0: none;
 * written by the engine. noted, count: any thread adds. The rest: engine
 * thread only. */
static struct {
    _Atomic int inner_plus_1;
    _Atomic int outgoing_plus_1;
    _Atomic int outer_plus_1;
    _Atomic int ucx_plus_1;
    _Atomic uint64_t noted[NOTED_MAX / WORD_BITS];
    _Atomic uint32_t count;
    int woken[EVENTS_MAX];
    int unread_bytes[EVENTS_MAX];
    int woken_count;
    int unchanged_rounds;
    bool has_milliseconds_only;
    uint32_t gather_bytes_max;
} sockets = {.gather_bytes_max = GATHER_BYTES_MAX};

static int sockets_set(_Atomic int *set_plus_1)
{
    int known = atomic_load_explicit(set_plus_1, memory_order_acquire);
    if (known != 0)
        return known - 1;
    int made = base_descriptor_own(epoll_create1(EPOLL_CLOEXEC));
    if (made < 0)
        return -1;
    /* acq_rel: the loser uses the winner's set. */
    if (atomic_compare_exchange_strong_explicit(set_plus_1, &known, made + 1, memory_order_acq_rel,
                                                memory_order_acquire))
        return made;
    base_descriptor_close(made);
    return known - 1;
}

static int sockets_inner(void)
{
    return sockets_set(&sockets.inner_plus_1);
}

static int sockets_outgoing(void)
{
    return sockets_set(&sockets.outgoing_plus_1);
}

static int sockets_outer(void)
{
    return atomic_load_explicit(&sockets.outer_plus_1, memory_order_acquire) - 1;
}

static void sockets_watch(int set, int operation, int descriptor, unsigned event, uint32_t triggers)
{
    struct epoll_event entry = {.events = triggers,
                                .data.u64 = ((uint64_t)event << EVENT_SHIFT) | (uint32_t)descriptor};
    epoll_ctl(set, operation, descriptor, &entry);
}

static void sockets_put(int descriptor)
{
    sockets_watch(sockets_inner(), EPOLL_CTL_ADD, descriptor, ENGINE_EVENT_SOCKET,
                  EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
    sockets_watch(sockets_outgoing(), EPOLL_CTL_ADD, descriptor, ENGINE_EVENT_SOCKET, EPOLLOUT | EPOLLET);
}

/* False: there are no bits for it. */
static bool sockets_note(int descriptor)
{
    if (descriptor < 0 || descriptor >= NOTED_MAX)
        return false;
    uint64_t bit = UINT64_C(1) << descriptor % WORD_BITS;
    atomic_fetch_or_explicit(&sockets.noted[descriptor / WORD_BITS], bit, memory_order_seq_cst); /* see below */
    return true;
}

/* It may have been closed since, and be something else now: a socket of another kind would wake the engine for
 * nothing, which does no harm. */
static bool sockets_is_stream(int descriptor)
{
    int type = 0;
    socklen_t length = sizeof type;
    return syscall(SYS_getsockopt, descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

static void sockets_put_noted(void)
{
    for (int word = 0; word < NOTED_MAX / WORD_BITS; word++) {
        uint64_t bits = atomic_load_explicit(&sockets.noted[word], memory_order_seq_cst); /* see engine_sockets_add() */
        for (; bits != 0; bits &= bits - 1) {
            int descriptor = word * WORD_BITS + __builtin_ctzll(bits);
            if (sockets_is_stream(descriptor))
                sockets_put(descriptor);
        }
    }
}

bool engine_sockets_open(void)
{
    int outer = base_descriptor_own(epoll_create1(EPOLL_CLOEXEC));
    int inner = sockets_inner();
    if (outer < 0 || inner < 0 || sockets_outgoing() < 0) {
        base_descriptor_close(outer);
        return false;
    }
    sockets_watch(outer, EPOLL_CTL_ADD, inner, ENGINE_EVENT_SOCKET, EPOLLIN);
    atomic_store_explicit(&sockets.outer_plus_1, outer + 1, memory_order_seq_cst); /* see engine_sockets_add() */
    sockets_put_noted();
    return true;
}

/* By edges: UCX's stays readable until it is armed again. */
static void sockets_watch_ucx(int operation, int descriptor, bool is_listening)
{
    sockets_watch(sockets_outer(), operation, descriptor, ENGINE_EVENT_UCX, is_listening ? EPOLLIN | EPOLLET : 0);
}

void engine_sockets_watch_ucx(int descriptor)
{
    sockets_watch_ucx(EPOLL_CTL_ADD, descriptor, true);
    /* relaxed: who does not see it yet leaves it heard, for one event */
    atomic_store_explicit(&sockets.ucx_plus_1, descriptor + 1, memory_order_relaxed);
}

/* UCX may have closed its own. */
void engine_sockets_listen(bool is_listening)
{
    int ucx_plus_1 = atomic_load_explicit(&sockets.ucx_plus_1, memory_order_relaxed);
    if (sockets_outer() < 0)
        return;
    sockets_watch(sockets_outer(), EPOLL_CTL_MOD, sockets_inner(), ENGINE_EVENT_SOCKET, is_listening ? EPOLLIN : 0);
    if (ucx_plus_1 != 0)
        sockets_watch_ucx(EPOLL_CTL_MOD, ucx_plus_1 - 1, is_listening);
}

void engine_sockets_add(int descriptor)
{
    int saved_errno = errno;
    bool is_noted = sockets_note(descriptor);
    /* seq_cst on the bits and on the set, here and in engine_sockets_open(): one of the two puts it there; the second
     * finds it there. */
    if (!is_noted || atomic_load_explicit(&sockets.outer_plus_1, memory_order_seq_cst) != 0)
        sockets_put(descriptor);
    atomic_fetch_add_explicit(&sockets.count, 1, memory_order_relaxed);
    errno = saved_errno;
}

uint32_t engine_sockets_count(void)
{
    return atomic_load_explicit(&sockets.count, memory_order_relaxed);
}

void engine_sockets_watch(int descriptor, unsigned event)
{
    if (descriptor >= 0)
        sockets_watch(sockets_outer(), EPOLL_CTL_ADD, descriptor, event, EPOLLIN);
}

static int sockets_wait_rounded(struct epoll_event *events, int64_t timeout_ns)
{
    return epoll_wait(sockets_outer(), events, EVENTS_MAX, (int)((timeout_ns + 999999) / 1000000));
}

/* epoll_pwait2 has nanoseconds (Linux 5.11); without it, milliseconds rounded up. Older kernels say ENOSYS, and older
 * filters of containers EPERM, or whatever they were told to say. */
static int sockets_epoll_wait(struct epoll_event *events, int64_t timeout_ns)
{
    struct timespec timeout = {timeout_ns / 1000000000, timeout_ns % 1000000000};
    if (sockets.has_milliseconds_only)
        return sockets_wait_rounded(events, timeout_ns);
    int count = (int)syscall(SYS_epoll_pwait2, sockets_outer(), events, EVENTS_MAX, &timeout, NULL, 0);
    sockets.has_milliseconds_only = count < 0 && errno != EINTR;
    return sockets.has_milliseconds_only ? sockets_wait_rounded(events, timeout_ns) : count;
}

static void sockets_note_woken(const struct epoll_event *entry)
{
    if ((entry->events & EPOLLIN) == 0)
        return;
    sockets.unread_bytes[sockets.woken_count] = -1;
    sockets.woken[sockets.woken_count++] = (int)(uint32_t)entry->data.u64;
}

/* Takes the edges off both sets. */
static void sockets_collect(void)
{
    struct epoll_event entries[EVENTS_MAX];
    (void)!epoll_wait(sockets_outgoing(), entries, EVENTS_MAX, 0);
    int count = epoll_wait(sockets_inner(), entries, EVENTS_MAX, 0);
    for (int i = 0; i < count; i++)
        sockets_note_woken(&entries[i]);
}

unsigned engine_sockets_sleep(int64_t timeout_ns)
{
    struct epoll_event entries[EVENTS_MAX];
    unsigned seen = ENGINE_EVENT_NONE;
    int count = sockets_epoll_wait(entries, timeout_ns);
    sockets.woken_count = 0;
    sockets.unchanged_rounds = 0;
    for (int i = 0; i < count; i++)
        seen |= (unsigned)(entries[i].data.u64 >> EVENT_SHIFT);
    if (seen & ENGINE_EVENT_SOCKET)
        sockets_collect();
    return seen;
}

void engine_sockets_gather_at_most(uint32_t bytes)
{
    if (bytes < sockets.gather_bytes_max)
        sockets.gather_bytes_max = bytes;
}

/* The kernel's figure counts its own overhead, about as much as the data, and half of the rest is left for
 * what is under way (tcp(7), tcp_adv_win_scale). It grows while a stream flows, unless MPI has set it. */
static uint32_t sockets_room_bytes(int descriptor)
{
    int buffer_bytes = 0;
    socklen_t length = sizeof buffer_bytes;
    if (syscall(SYS_getsockopt, descriptor, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, &length) != 0 || buffer_bytes < 0)
        return 0;
    return (uint32_t)buffer_bytes / ROOM_PART;
}

static struct engine_sockets_waiting sockets_one_waiting(int descriptor)
{
    int bytes = 0;
    if (syscall(SYS_ioctl, descriptor, FIONREAD, &bytes) != 0 || bytes <= 0)
        return (struct engine_sockets_waiting){.room_bytes = sockets.gather_bytes_max};
    return (struct engine_sockets_waiting){(uint32_t)bytes, sockets_room_bytes(descriptor)};
}

struct engine_sockets_waiting engine_sockets_waiting(void)
{
    struct engine_sockets_waiting all = {.room_bytes = sockets.gather_bytes_max};
    for (int i = 0; i < sockets.woken_count; i++) {
        struct engine_sockets_waiting one = sockets_one_waiting(sockets.woken[i]);
        all.bytes += one.bytes;
        all.room_bytes = one.room_bytes < all.room_bytes ? one.room_bytes : all.room_bytes;
    }
    return all;
}

/* A negative descriptor is left out (poll(2)). */
void engine_sockets_doze(int touch_descriptor, int wake_descriptor, bool hears_room, int64_t timeout_ns)
{
    struct timespec timeout = {timeout_ns / 1000000000, timeout_ns % 1000000000};
    struct pollfd ends[] = {{.fd = touch_descriptor, .events = POLLIN},
                            {.fd = wake_descriptor, .events = POLLIN},
                            {.fd = hears_room ? sockets_outgoing() : -1, .events = POLLIN}};
    syscall(SYS_ppoll, ends, sizeof ends / sizeof ends[0], &timeout, NULL, 0);
}

/* Bytes that wait in a socket that woke the engine; notes whether they changed. */
static bool sockets_one_unread(int index, bool *has_changed)
{
    int bytes = 0;
    if (syscall(SYS_ioctl, sockets.woken[index], FIONREAD, &bytes) != 0 || bytes == 0)
        return false;
    *has_changed |= bytes != sockets.unread_bytes[index];
    sockets.unread_bytes[index] = bytes;
    return true;
}

bool engine_sockets_unread(void)
{
    bool is_unread = false;
    bool has_changed = false;
    for (int i = 0; i < sockets.woken_count; i++)
        is_unread |= sockets_one_unread(i, &has_changed);
    /* A library may look at its sockets only at every few calls of its progress
     * function; a socket that it never reads must not keep the engine busy. */
    sockets.unchanged_rounds = has_changed ? 0 : sockets.unchanged_rounds + 1;
    return is_unread && sockets.unchanged_rounds < UNCHANGED_ROUNDS_MAX;
}

static void sockets_close(_Atomic int *descriptor_plus_1)
{
    int known = atomic_exchange_explicit(descriptor_plus_1, 0, memory_order_relaxed);
    if (known != 0)
        base_descriptor_close(known - 1);
}

void engine_sockets_close(void)
{
    sockets_close(&sockets.outer_plus_1);
}

void engine_sockets_discard(void)
{
    atomic_store_explicit(&sockets.ucx_plus_1, 0, memory_order_relaxed);
    sockets_close(&sockets.outer_plus_1);
    sockets_close(&sockets.inner_plus_1);
    sockets_close(&sockets.outgoing_plus_1);
}
