/* SPDX-License-Identifier: MIT */
/* Entries that make a stream socket the engine can sleep on. */
#include <errno.h>
#include <stdbool.h>

#include "engine/sockets.h"
#include "libc/real.h"
#include "libc/use.h"

static int socket_fact(int descriptor, int name)
{
    int value = -1;
    socklen_t value_bytes = sizeof(value);
    getsockopt(descriptor, SOL_SOCKET, name, &value, &value_bytes);
    return value;
}

static bool socket_is_stream(int descriptor)
{
    int domain = socket_fact(descriptor, SO_DOMAIN);
    return (domain == AF_INET || domain == AF_INET6) && socket_fact(descriptor, SO_TYPE) == SOCK_STREAM;
}

static void socket_report(int descriptor)
{
    int saved_errno = errno;
    if (socket_is_stream(descriptor))
        engine_sockets_add(descriptor);
    errno = saved_errno;
}

/* An interrupted connect() goes on in the background, as one in progress does (connect(2)). */
static bool connect_is_under_way(int result)
{
    return result == 0 || errno == EINPROGRESS || errno == EINTR;
}

int libc_entry_connect(int descriptor, const struct sockaddr *address, socklen_t address_length) LIBC_ENTRY(connect);
int libc_entry_connect(int descriptor, const struct sockaddr *address, socklen_t address_length)
{
    if (protect_armed_is_any())
        libc_use_reads(address, address_length);
    /* A peer may have begun to listen before it sent. */
    libc_use_known_when(protect_armed_is_any());
    int result = LIBC_REAL(connect)(descriptor, address, address_length);
    if (connect_is_under_way(result))
        socket_report(descriptor);
    return result;
}

/* A peer's first message begins with a connection that MPI has to accept. */
int libc_entry_listen(int descriptor, int backlog) LIBC_ENTRY(listen);
int libc_entry_listen(int descriptor, int backlog)
{
    int result = LIBC_REAL(listen)(descriptor, backlog);
    if (result == 0)
        socket_report(descriptor);
    return result;
}

int libc_entry_accept(int descriptor, struct sockaddr *address, socklen_t *address_length) LIBC_ENTRY(accept);
int libc_entry_accept(int descriptor, struct sockaddr *address, socklen_t *address_length)
{
    if (protect_armed_is_any())
        libc_use_sized_writes(address, address_length);
    int result = LIBC_REAL(accept)(descriptor, address, address_length);
    if (result >= 0)
        socket_report(result);
    return result;
}

int libc_entry_accept4(int descriptor, struct sockaddr *address, socklen_t *address_length, int flags)
    LIBC_ENTRY(accept4);
int libc_entry_accept4(int descriptor, struct sockaddr *address, socklen_t *address_length, int flags)
{
    if (protect_armed_is_any())
        libc_use_sized_writes(address, address_length);
    int result = LIBC_REAL(accept4)(descriptor, address, address_length, flags);
    if (result >= 0)
        socket_report(result);
    return result;
}
