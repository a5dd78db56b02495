/* SPDX-License-Identifier: MIT */
/* MPI_Sendrecv and MPI_Sendrecv_replace (MPI 4.1, 3.10). */
#include "mpi/dispatch.h"
#include "mpi/message/exchange.h"
#include "mpi/entries.h"

int entry_MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                       int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    int result;
    struct exchange exchange = {
        .send = message_of((void *)sendbuf, sendcount, sendtype, dest, sendtag, comm),
        .receive = message_of(recvbuf, recvcount, recvtype, source, recvtag, comm),
        .status = status,
    };
    if (!exchange_try(&exchange, __builtin_return_address(0), &result)) {
        dispatch_enter();
        result = dispatch_leave(real.MPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                                                  recvtype, source, recvtag, comm, status));
    }
    return exchange_end(&exchange, result);
}

int entry_MPI_Sendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                         void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                         MPI_Comm comm, MPI_Status *status)
{
    int result;
    struct exchange exchange = {
        .send = message_of((void *)sendbuf, sendcount, sendtype, dest, sendtag, comm),
        .receive = message_of(recvbuf, recvcount, recvtype, source, recvtag, comm),
        .status = status,
    };
    if (!exchange_try(&exchange, __builtin_return_address(0), &result)) {
        dispatch_enter();
        result = dispatch_leave(real.MPI_Sendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                                                    recvtype, source, recvtag, comm, status));
    }
    return exchange_end(&exchange, result);
}

int entry_MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                               int recvtag, MPI_Comm comm, MPI_Status *status)
{
    int result;
    struct exchange exchange = {
        .send = message_of(buf, count, datatype, dest, sendtag, comm),
        .receive = message_of(buf, count, datatype, source, recvtag, comm),
        .status = status,
        .is_replacing = true,
    };
    if (!exchange_try(&exchange, __builtin_return_address(0), &result)) {
        dispatch_enter();
        result = dispatch_leave(
            real.MPI_Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, status));
    }
    return exchange_end(&exchange, result);
}

int entry_MPI_Sendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
                                 int recvtag, MPI_Comm comm, MPI_Status *status)
{
    int result;
    struct exchange exchange = {
        .send = message_of(buf, count, datatype, dest, sendtag, comm),
        .receive = message_of(buf, count, datatype, source, recvtag, comm),
        .status = status,
        .is_replacing = true,
    };
    if (!exchange_try(&exchange, __builtin_return_address(0), &result)) {
        dispatch_enter();
        result = dispatch_leave(
            real.MPI_Sendrecv_replace_c(buf, count, datatype, dest, sendtag, source, recvtag, comm, status));
    }
    return exchange_end(&exchange, result);
}
