/* SPDX-License-Identifier: MIT */
/* A library with the names of UCX's functions that Lapwing stands before or calls. */
#ifndef TESTS_ENGINE_UCX_STUB_H
#define TESTS_ENGINE_UCX_STUB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHOWN __attribute__((visibility("default")))

enum { UCX_STUB_OK = 0, UCX_STUB_BUSY = -15, UCX_STUB_REFUSED = -22 };
enum { UCX_STUB_TAG = 1, UCX_STUB_WAKEUP = 16 };

/* refuses_events: no transport can tell. features: of the last context that was not refused. descriptor: of all
 * workers. is_busy: the worker has something left to do. asked: how often a worker was armed. arms_wrongly: how often
 * although `may_arm` said no. destroyed: the last worker that was. */
extern SHOWN struct ucx_stub {
    bool refuses_events;
    uint64_t features;
    int descriptor;
    _Atomic bool is_busy;
    _Atomic int asked;
    bool (*may_arm)(void);
    _Atomic int arms_wrongly;
    const void *destroyed;
} ucx_stub;

SHOWN int8_t ucp_init_version(unsigned major, unsigned minor, const void *params, const void *config, void **context);
SHOWN int8_t ucp_worker_create(void *context, const void *params, void **worker);
SHOWN void ucp_worker_destroy(void *worker);

#endif
