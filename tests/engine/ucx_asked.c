/* SPDX-License-Identifier: MIT */
/* Claim: UCX is asked for events where MPI opens it in MPI_Init for messages, from a copy of what MPI gives it, of
 * which no more is read than MPI has filled in; and only where one worker is there, and as long as it is, somebody
 * listens. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/claim.h"
#include "base/options.h"
#include "engine/ucx.h"
#include "ucx_stub.h"

enum { FIELD_FEATURES = 1, FIELD_NAME = 1 << 8, FIELD_UNKNOWN = 1 << 12 };
enum { FEATURES_END_BYTES = 16, NAME_END_BYTES = 80 };

static void *context;

/* Read-only, and nothing can be read behind it. */
static const uint64_t *params_make(uint64_t field_mask, uint64_t features, size_t length_bytes)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    char *page = mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    claim(page != MAP_FAILED && mprotect(page + page_bytes, page_bytes, PROT_NONE) == 0, "pages");
    char *params = page + page_bytes - length_bytes;
    memcpy(params, &field_mask, sizeof field_mask);
    memcpy(params + sizeof field_mask, &features, sizeof features);
    claim(mprotect(page, page_bytes, PROT_READ) == 0, "read-only");
    return (const uint64_t *)params;
}

/* With which features is UCX opened? */
static uint64_t opened(uint64_t field_mask, uint64_t features, size_t length_bytes)
{
    const uint64_t *params = params_make(field_mask, features, length_bytes);
    claim(ucp_init_version(1, 13, params, NULL, &context) == UCX_STUB_OK, "opened");
    return ucx_stub.features;
}

static void *worker_make(void)
{
    void *worker = NULL;
    claim(ucp_worker_create(context, NULL, &worker) == UCX_STUB_OK && worker != NULL, "a worker");
    return worker;
}

static void check_features(void)
{
    claim(opened(FIELD_FEATURES, UCX_STUB_TAG, FEATURES_END_BYTES) == UCX_STUB_TAG, "outside MPI_Init as it was given");
    engine_ucx_expect(true);
    claim(opened(FIELD_FEATURES, UCX_STUB_TAG, FEATURES_END_BYTES) == (UCX_STUB_TAG | UCX_STUB_WAKEUP), "with events");
    uint64_t named = opened(FIELD_FEATURES | FIELD_NAME, UCX_STUB_TAG, NAME_END_BYTES);
    claim(named == (UCX_STUB_TAG | UCX_STUB_WAKEUP), "with events, of a longer list");
    claim(opened(FIELD_FEATURES, 2, FEATURES_END_BYTES) == 2, "not for messages: as it was given");
    uint64_t unknown = opened(FIELD_FEATURES | FIELD_UNKNOWN, UCX_STUB_TAG, FEATURES_END_BYTES);
    claim(unknown == UCX_STUB_TAG, "fields of which nothing is known: as it was given");
    ucx_stub.refuses_events = true;
    claim(opened(FIELD_FEATURES, UCX_STUB_TAG, FEATURES_END_BYTES) == UCX_STUB_TAG, "refused: as it was given");
    ucx_stub.refuses_events = false;
}

static void check_workers(void)
{
    engine_ucx_expect(true);
    opened(FIELD_FEATURES, UCX_STUB_TAG, FEATURES_END_BYTES);
    void *worker = worker_make();
    engine_ucx_expect(false);
    worker_make();
    engine_ucx_settle(true);
    claim(engine_ucx_descriptor() == ucx_stub.descriptor && engine_ucx_arm(), "MPI's worker is listened to");
    ucp_worker_destroy(worker);
    claim(ucx_stub.destroyed == worker && engine_ucx_descriptor() < 0 && !engine_ucx_arm(), "it is gone");
    engine_ucx_expect(true);
    worker = worker_make();
    engine_ucx_settle(true);
    claim(engine_ucx_descriptor() < 0, "the second of MPI's is not listened to");
    ucp_worker_destroy(worker);
    claim(ucx_stub.destroyed == worker, "UCX destroys what is not known here");
    engine_ucx_expect(false);
}

int main(void)
{
    ucx_stub.descriptor = STDIN_FILENO;
    options.progress = OPTION_PROGRESS_AUTO;
    engine_ucx_expect(true);
    claim(opened(FIELD_FEATURES, UCX_STUB_TAG, FEATURES_END_BYTES) == UCX_STUB_TAG, "unasked, as it was given");
    engine_ucx_expect(false);
    options.progress = OPTION_PROGRESS_EVENT;
    check_workers();
    check_features();
    return 0;
}
