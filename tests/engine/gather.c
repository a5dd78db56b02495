/* SPDX-License-Identifier: MIT */
/* Claim: while data gather, more data wake nobody, but a socket that takes data again does. */
#include <stdint.h>
#include <sys/socket.h>

#include "../base/claim.h"
#include "base/clock.h"
#include "engine/sockets.h"

enum { NONE = -1, SHORT_NS = 20000000 };
static const int64_t long_ns = 10000000000;

static int ends[2];
static char bytes[65536];

static void fill(void)
{
    while (send(ends[1], bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        continue;
}

static void drain(void)
{
    while (recv(ends[0], bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        continue;
}

static int64_t gather_ns(int64_t timeout_ns)
{
    int64_t begin_ns = base_clock_now_ns();
    engine_sockets_doze(NONE, NONE, true, timeout_ns);
    return base_clock_now_ns() - begin_ns;
}

int main(void)
{
    claim(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "sockets");
    claim(engine_sockets_open(), "the sets");
    engine_sockets_add(ends[1]);
    fill();
    engine_sockets_sleep(0); /* takes off the edges of the beginning */
    claim(send(ends[0], bytes, 1, 0) == 1, "a byte");
    claim(gather_ns(SHORT_NS) >= SHORT_NS, "what arrives ends no gathering");
    drain();
    claim(gather_ns(long_ns) < long_ns, "room to send ends it");
    claim(engine_sockets_sleep(0) == ENGINE_EVENT_SOCKET, "what ended it is seen by the sleep after it");
    claim(engine_sockets_waiting().bytes == 1, "and what arrived meanwhile");
    claim(engine_sockets_sleep(0) == ENGINE_EVENT_NONE, "once");
    engine_sockets_close();
    return 0;
}
