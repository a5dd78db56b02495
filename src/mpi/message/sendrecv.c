/* SPDX-License-Identifier: MIT */
/* MPI_Sendrecv and MPI_Sendrecv_replace (MPI 4.1, 3.10). */
#include "mpi/dispatch.h"
#include "mpi/message/exchange.h"
#include "mpi/request/freed.h"
#include "mpi/entries.h"

static int exchange_now(const struct exchange *exchange)
{
    const struct message *send = &exchange->send;
    const struct message *receive = &exchange->receive;
    if (exchange->is_replacing)
        return real_sized_MPI_Sendrecv_replace(receive->buffer, receive->count, receive->datatype, send->peer,
                                               send->tag, receive->peer, receive->tag, receive->comm, exchange->status,
                                               receive->has_large_count);
    return real_sized_MPI_Sendrecv(send->buffer, send->count, send->datatype, send->peer, send->tag, receive->buffer,
                                   receive->count, receive->datatype, receive->peer, receive->tag, receive->comm,
                                   exchange->status, receive->has_large_count);
}

/* Inline: small exchanges go through it. */
static inline int exchange_call(struct exchange *exchange, bool has_large_count, const void *return_address)
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

int carried_MPI_Sendrecv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                         void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                         MPI_Comm comm, MPI_Status *status, bool has_large_count, const void *caller)
{
    struct exchange exchange = {
        .send = message_of((void *)sendbuf, sendcount, sendtype, dest, sendtag, comm),
        .receive = message_of(recvbuf, recvcount, recvtype, source, recvtag, comm),
        .status = status,
    };
    return exchange_call(&exchange, has_large_count, caller);
}

int carried_MPI_Sendrecv_replace(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
                                 int recvtag, MPI_Comm comm, MPI_Status *status, bool has_large_count,
                                 const void *caller)
{
    struct exchange exchange = {
        .send = message_of(buf, count, datatype, dest, sendtag, comm),
        .receive = message_of(buf, count, datatype, source, recvtag, comm),
        .status = status,
        .is_replacing = true,
    };
    return exchange_call(&exchange, has_large_count, caller);
}
