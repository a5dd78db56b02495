/* SPDX-License-Identifier: MIT */
#include "engine/ucx.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/behind.h"
#include "base/options.h"

/* As much of UCX's ABI as is needed (ucp/api/ucp.h and ucs/type/status.h of UCX 1.13; node_local_id came later). A
 * status is an enumeration packed into one byte. */
typedef int8_t ucx_status;
enum { UCX_OK = 0, UCX_UNSUPPORTED = -22 };
enum { UCX_TAG = 1 << 0, UCX_WAKEUP = 1 << 4, UCX_ACTIVE_MESSAGES = 1 << 6 };
enum { UCX_FIELD_FEATURES = 1 << 0 };

/* ucp_params_t: who fills in fewer fields may have an older, shorter one. */
struct ucx_params {
    uint64_t field_mask;
    uint64_t features;
    size_t request_size;
    void (*request_init)(void *request);
    void (*request_cleanup)(void *request);
    uint64_t tag_sender_mask;
    int mt_workers_shared;
    size_t estimated_num_eps;
    size_t estimated_num_ppn;
    const char *name;
    uint64_t node_local_id;
};

/* Where each bit's field ends. */
static const size_t ucx_params_ends[] = {
    offsetof(struct ucx_params, request_size),      offsetof(struct ucx_params, request_init),
    offsetof(struct ucx_params, request_cleanup),   offsetof(struct ucx_params, tag_sender_mask),
    offsetof(struct ucx_params, mt_workers_shared), offsetof(struct ucx_params, mt_workers_shared) + sizeof(int),
    offsetof(struct ucx_params, estimated_num_ppn), offsetof(struct ucx_params, name),
    offsetof(struct ucx_params, node_local_id),     sizeof(struct ucx_params),
};

enum { UCX_FIELDS_KNOWN = sizeof ucx_params_ends / sizeof ucx_params_ends[0], UCX_FIELDS_MAX = 64 };

typedef ucx_status ucx_init_fn(unsigned major, unsigned minor, const struct ucx_params *params, const void *config,
                               void **context);
typedef ucx_status ucx_worker_create_fn(void *context, const void *params, void **worker);
typedef void ucx_worker_destroy_fn(void *worker);
typedef ucx_status ucx_worker_descriptor_fn(void *worker, int *descriptor);
typedef ucx_status ucx_worker_arm_fn(void *worker);

/* opener: the thread in MPI_Init, else 0; it alone writes the rest until MPI_Init is over. relaxed: a thread looks for
 * its own number only. context: MPI's, the last one that was opened with events; contexts: how many there were. worker:
 * the only one there, NULL once it is gone, which happens inside MPI; relaxed: who is inside the gate sees it. workers:
 * how many of it there were. descriptor, arm, destroy: the worker's. */
static struct {
    _Atomic pthread_t opener;
    void *context;
    int contexts;
    _Atomic(void *) worker;
    int workers;
    int descriptor;
    ucx_worker_arm_fn *arm;
    ucx_worker_destroy_fn *destroy;
} ucx = {.descriptor = -1};

/* A caller that leaves the call to us as its last act (a tail call) is not seen. */
static void *ucx_function(const void *caller, const char *name)
{
    void *function = base_behind(caller, name);
    void *handle = function == NULL ? dlopen("libucp.so.0", RTLD_NOLOAD | RTLD_LAZY) : NULL;
    if (handle == NULL)
        return function;
    function = dlsym(handle, name);
    dlclose(handle);
    return function;
}

static bool ucx_is_expected(void)
{
    return atomic_load_explicit(&ucx.opener, memory_order_relaxed) == pthread_self();
}

/* How much of it the caller has filled in; 0: fields that are not known here. */
static size_t ucx_params_bytes(const struct ucx_params *params)
{
    int fields = params->field_mask == 0 ? 0 : UCX_FIELDS_MAX - __builtin_clzll(params->field_mask);
    return fields == 0 || fields > UCX_FIELDS_KNOWN ? 0 : ucx_params_ends[fields - 1];
}

/* Is this opened for messages, and without events? Then *asking is the same with them. */
static bool ucx_params_ask(const struct ucx_params *params, struct ucx_params *asking)
{
    memcpy(asking, params, ucx_params_bytes(params));
    bool is_for_messages =
        (asking->field_mask & UCX_FIELD_FEATURES) != 0 && (asking->features & (UCX_TAG | UCX_ACTIVE_MESSAGES)) != 0;
    bool has_events = (asking->features & UCX_WAKEUP) != 0;
    asking->features |= UCX_WAKEUP;
    return is_for_messages && !has_events;
}

/* Before UCX's functions of these names, for all that call them. ucp_init() is inline. */
ucx_init_fn ucx_init __asm__("ucp_init_version") __attribute__((visibility("default")));
ucx_worker_create_fn ucx_worker_create __asm__("ucp_worker_create") __attribute__((visibility("default")));
ucx_worker_destroy_fn ucx_worker_destroy __asm__("ucp_worker_destroy") __attribute__((visibility("default")));

ucx_status ucx_init(unsigned major, unsigned minor, const struct ucx_params *params, const void *config, void **context)
{
    ucx_init_fn *next = (ucx_init_fn *)ucx_function(__builtin_return_address(0), "ucp_init_version");
    struct ucx_params asking = {.field_mask = 0};
    if (next == NULL)
        return UCX_UNSUPPORTED;
    bool is_asking = ucx_is_expected() && ucx_params_ask(params, &asking);
    if (!is_asking || next(major, minor, &asking, config, context) != UCX_OK)
        return next(major, minor, params, config, context);
    ucx.context = *context;
    ucx.contexts++;
    return UCX_OK;
}

static void ucx_meet_worker(void *worker, const void *caller)
{
    ucx_worker_descriptor_fn *ask = (ucx_worker_descriptor_fn *)ucx_function(caller, "ucp_worker_get_efd");
    ucx.arm = (ucx_worker_arm_fn *)ucx_function(caller, "ucp_worker_arm");
    ucx.destroy = (ucx_worker_destroy_fn *)ucx_function(caller, "ucp_worker_destroy");
    bool is_able = ask != NULL && ucx.arm != NULL && ucx.destroy != NULL;
    if (is_able && ask(worker, &ucx.descriptor) == UCX_OK)
        atomic_store_explicit(&ucx.worker, worker, memory_order_relaxed);
}

ucx_status ucx_worker_create(void *context, const void *params, void **worker)
{
    const void *caller = __builtin_return_address(0);
    ucx_worker_create_fn *next = (ucx_worker_create_fn *)ucx_function(caller, "ucp_worker_create");
    ucx_status status = next == NULL ? UCX_UNSUPPORTED : next(context, params, worker);
    if (status == UCX_OK && ucx_is_expected() && context == ucx.context && ucx.workers++ == 0)
        ucx_meet_worker(*worker, caller);
    return status;
}

static bool ucx_forget_worker(void *worker)
{
    void *known = worker;
    return worker != NULL && atomic_compare_exchange_strong_explicit(&ucx.worker, &known, NULL, memory_order_relaxed,
                                                                     memory_order_relaxed);
}

void ucx_worker_destroy(void *worker)
{
    bool is_known = ucx_forget_worker(worker);
    void *found = is_known ? NULL : ucx_function(__builtin_return_address(0), "ucp_worker_destroy");
    ucx_worker_destroy_fn *next = is_known ? ucx.destroy : (ucx_worker_destroy_fn *)found;
    if (next != NULL)
        next(worker);
}

void engine_ucx_expect(bool is_expected)
{
    bool is_asked = is_expected && options.progress == OPTION_PROGRESS_EVENT;
    atomic_store_explicit(&ucx.opener, is_asked ? pthread_self() : 0, memory_order_relaxed);
}

/* Of several workers one alone would be heard, be it one of a library that MPI uses. */
void engine_ucx_settle(bool may_listen)
{
    if (!may_listen || ucx.contexts != 1 || ucx.workers != 1)
        atomic_store_explicit(&ucx.worker, NULL, memory_order_relaxed);
}

int engine_ucx_descriptor(void)
{
    return atomic_load_explicit(&ucx.worker, memory_order_relaxed) == NULL ? -1 : ucx.descriptor;
}

bool engine_ucx_arm(void)
{
    void *worker = atomic_load_explicit(&ucx.worker, memory_order_relaxed);
    return worker != NULL && ucx.arm(worker) == UCX_OK;
}
