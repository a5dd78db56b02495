/* SPDX-License-Identifier: MIT */
#include "mpi/early/early_receive.h"

#include "mpi/dispatch.h"
#include "engine/gate.h"
#include "mpi/early.h"
#include "mpi/early/early_messages.h"
#include "mpi/message/exchange.h"
#include "mpi/status.h"

static int has_come_poll(void *message, int *is_over)
{
    *is_over = early_message_has_come(message);
    return MPI_SUCCESS;
}

static int raise_on(MPI_Comm comm, int result)
{
    if (result != MPI_SUCCESS)
        real.MPI_Comm_call_errhandler(comm, result);
    return result;
}

static int receive_found(struct early_message *message, struct message *receive, MPI_Status *status)
{
    MPI_Status probed = *early_message_status(message);
    dispatch_wait_argument(status, sizeof *status);
    dispatch_wait_buffer(receive->buffer, receive->count, receive->datatype, DISPATCH_WRITES);
    dispatch_block(has_come_poll, message);
    dispatch_enter();
    status_copy(status, &probed);
    return dispatch_leave_and_tell(raise_on(receive->comm, early_message_give(message, receive)));
}

static struct early_message *message_for(const struct message *receive)
{
    if (!early.is_used)
        return NULL;
    gate_enter();
    struct early_message *message = early_message_find(receive->peer, receive->tag, receive->comm);
    gate_leave();
    return message;
}

bool early_receive_awaits(const struct message *receive)
{
    return message_for(receive) != NULL;
}

bool early_receive_try(struct message *receive, MPI_Status *status, int *result)
{
    struct early_message *message = message_for(receive);
    if (message == NULL)
        return false;
    *result = exchange_check_receive(receive); /* wrong arguments lose no message */
    if (*result == MPI_SUCCESS)
        *result = receive_found(message, receive, status);
    return true;
}

bool early_receive_probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    const struct early_message *message = early_message_find(source, tag, comm);
    if (message != NULL)
        status_copy(status, early_message_status(message));
    return message != NULL;
}
