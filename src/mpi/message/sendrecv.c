/* SPDX-License-Identifier: MIT */
/* MPI_Sendrecv and MPI_Sendrecv_replace (MPI 4.1, 3.10). */
#include "mpi/dispatch.h"
#include "mpi/message/exchange.h"
#include "mpi/request/freed.h"
#include "mpi/entries.h"

static int replace_now(const struct message *send, const struct message *receive, MPI_Status *status)
{
    if (receive->has_large_count)
        return real.MPI_Sendrecv_replace_c(receive->buffer, receive->count, receive->datatype, send->peer, send->tag,
                                           receive->peer, receive->tag, receive->comm, status);
    return real.MPI_Sendrecv_replace(receive->buffer, (int)receive->count, receive->datatype, send->peer, send->tag,
                                     receive->peer, receive->tag, receive->comm, status);
}

static int exchange_now(const struct exchange *exchange)
{
    const struct message *send = &exchange->send;
    const struct message *receive = &exchange->receive;
    if (exchange->is_replacing)
        return replace_now(send, receive, exchange->status);
    if (send->has_large_count)
        return real.MPI_Sendrecv_c(send->buffer, send->count, send->datatype, send->peer, send->tag, receive->buffer,
                                   receive->count, receive->datatype, receive->peer, receive->tag, receive->comm,
                                   exchange->status);
    return real.MPI_Sendrecv(send->buffer, (int)send->count, send->datatype, send->peer, send->tag, receive->buffer,
                             (int)receive->count, receive->datatype, receive->peer, receive->tag, receive->comm,
                             exchange->status);
}

static int exchange_call(struct exchange *exchange, bool has_large_count, const void *return_address)
{
    int result;
    exchange->send.has_large_count = exchange->receive.has_large_count = has_large_count;
    if (exchange_enters_small(exchange)) {
        result = dispatch_leave_idle(exchange_now(exchange));
        freed_requests_await();
        return result;
    }
    if (!exchange_try(exchange, return_address, &result)) {
        dispatch_enter();
        result = dispatch_leave_and_tell(exchange_now(exchange));
    }
    return exchange_end(exchange, result);
}

/* Out of line: the entries' own frames stay empty on the way of small messages. */
__attribute__((noinline)) static int sendrecv_call(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                                   int dest, int sendtag, void *recvbuf, MPI_Count recvcount,
                                                   MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                                                   MPI_Status *status, bool has_large_count, const void *return_address)
{
    struct exchange exchange = {
        .send = message_of((void *)sendbuf, sendcount, sendtype, dest, sendtag, comm),
        .receive = message_of(recvbuf, recvcount, recvtype, source, recvtag, comm),
        .status = status,
    };
    return exchange_call(&exchange, has_large_count, return_address);
}

__attribute__((noinline)) static int replace_call(void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                                                  int sendtag, int source, int recvtag, MPI_Comm comm,
                                                  MPI_Status *status, bool has_large_count, const void *return_address)
{
    struct exchange exchange = {
        .send = message_of(buf, count, datatype, dest, sendtag, comm),
        .receive = message_of(buf, count, datatype, source, recvtag, comm),
        .status = status,
        .is_replacing = true,
    };
    return exchange_call(&exchange, has_large_count, return_address);
}

int entry_MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                       int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    if (exchange_goes_straight(sendcount, sendtype, recvcount, recvtype))
        return real.MPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                                 recvtag, comm, status);
    return sendrecv_call(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
                         comm, status, false, __builtin_return_address(0));
}

int entry_MPI_Sendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                         void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                         MPI_Comm comm, MPI_Status *status)
{
    if (exchange_goes_straight(sendcount, sendtype, recvcount, recvtype))
        return real.MPI_Sendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                                   recvtag, comm, status);
    return sendrecv_call(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
                         comm, status, true, __builtin_return_address(0));
}

int entry_MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                               int recvtag, MPI_Comm comm, MPI_Status *status)
{
    if (exchange_goes_straight(count, datatype, count, datatype))
        return real.MPI_Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, status);
    return replace_call(buf, count, datatype, dest, sendtag, source, recvtag, comm, status, false,
                        __builtin_return_address(0));
}

int entry_MPI_Sendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
                                 int recvtag, MPI_Comm comm, MPI_Status *status)
{
    if (exchange_goes_straight(count, datatype, count, datatype))
        return real.MPI_Sendrecv_replace_c(buf, count, datatype, dest, sendtag, source, recvtag, comm, status);
    return replace_call(buf, count, datatype, dest, sendtag, source, recvtag, comm, status, true,
                        __builtin_return_address(0));
}
