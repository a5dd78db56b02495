/* SPDX-License-Identifier: MIT */
/* The stream sockets of this process: what the engine sleeps on. libc's
 * connect/accept entries report every one as it appears; the kernel takes a
 * closed one out of the set by itself (epoll(7)). Until the engine is to start they are
 * in no set, since each message that arrives would pay for it. */
#ifndef ENGINE_SOCKETS_H
#define ENGINE_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

/* Any thread, any time after load; cheap. Only AF_INET/AF_INET6 stream sockets. */
void engine_sockets_add(int descriptor);

/* Number of sockets ever added. */
uint32_t engine_sockets_count(void);

enum {
    ENGINE_EVENT_NONE = 0,
    ENGINE_EVENT_SOCKET = 1,
    ENGINE_EVENT_TOUCH = 2,
    ENGINE_EVENT_WAKE = 4,
    ENGINE_EVENT_NAP = 8,
    ENGINE_EVENT_UCX = 16
};

/* Before the engine starts, and after it has ended. */
bool engine_sockets_open(void);
void engine_sockets_close(void);

/* Any thread: from now on sockets, and UCX, wake a sleeping engine, or do not. What has
 * happened meanwhile wakes it when it listens again. */
void engine_sockets_listen(bool is_listening);

/* Engine thread: watches one more descriptor; `event` is what it reports. */
void engine_sockets_watch(int descriptor, unsigned event);

/* Engine thread: the same for UCX's (engine/ucx.h), which is heard only while sockets are. */
void engine_sockets_watch_ucx(int descriptor);

/* Engine thread: sleeps until something happens, at most `timeout_ns`.
 * Returns the events seen, ENGINE_EVENT_NONE after a time-out. */
unsigned engine_sockets_sleep(int64_t timeout_ns);

/* What waits in the sockets that woke the engine, together; how much each of them may
 * hold before its sender has to stop. */
struct engine_sockets_waiting {
    uint32_t bytes;
    uint32_t room_bytes;
};

/* In MPI_Init: a sender stops sooner than its socket is full, since it sends no more than MPI asks it for. */
void engine_sockets_gather_at_most(uint32_t bytes);

/* Engine thread, right after a sleep. */
struct engine_sockets_waiting engine_sockets_waiting(void);

/* Engine thread: sleeps deaf to what comes in, for at most `timeout_ns`; a touch or a wake ends it sooner. hears_room:
 * a socket that takes more data again ends it, too: what comes in may wait, what goes out may not. */
void engine_sockets_doze(int touch_descriptor, int wake_descriptor, bool hears_room, int64_t timeout_ns);

/* Engine thread, after a poll of MPI: does a socket that woke it still hold
 * bytes that MPI has begun to take? Then it should poll again at once. */
bool engine_sockets_unread(void);

/* Of an engine that was refused, and in the child after fork: the parent's sets must not be used there. */
void engine_sockets_discard(void);

#endif
