/* SPDX-License-Identifier: MIT */
#include "ucx_stub.h"

enum { HANDLES_MAX = 64 };

struct ucx_stub ucx_stub;

/* Of contexts and workers. */
static char handles[HANDLES_MAX];
static int handles_given;

SHOWN int8_t ucp_worker_get_efd(void *worker, int *descriptor);
SHOWN int8_t ucp_worker_arm(void *worker);

/* As UCX does: fields that the mask does not name are not read. */
int8_t ucp_init_version(unsigned major, unsigned minor, const void *params, const void *config, void **context)
{
    const uint64_t *fields = params;
    (void)major, (void)minor, (void)config;
    if (ucx_stub.refuses_events && (fields[1] & UCX_STUB_WAKEUP) != 0)
        return UCX_STUB_REFUSED;
    ucx_stub.features = fields[1];
    *context = &handles[handles_given++];
    return UCX_STUB_OK;
}

int8_t ucp_worker_create(void *context, const void *params, void **worker)
{
    (void)context, (void)params;
    *worker = &handles[handles_given++];
    return UCX_STUB_OK;
}

void ucp_worker_destroy(void *worker)
{
    ucx_stub.destroyed = worker;
}

int8_t ucp_worker_get_efd(void *worker, int *descriptor)
{
    (void)worker;
    *descriptor = ucx_stub.descriptor;
    return UCX_STUB_OK;
}

int8_t ucp_worker_arm(void *worker)
{
    (void)worker;
    ucx_stub.asked++;
    ucx_stub.arms_wrongly += ucx_stub.may_arm != NULL && !ucx_stub.may_arm();
    return ucx_stub.is_busy ? UCX_STUB_BUSY : UCX_STUB_OK;
}
