/* SPDX-License-Identifier: MIT */
/* What a lower room asks of a higher one, or of one beside it: the tables of functions that it owns
 * are filled here. Constant, so that they are there before any constructor runs. */
#include "bind/bind.h"
#include "libc/mpi_names.h"
#include "libc/own.h"
#include "libc/real.h"
#include "libc/runtime.h"
#include "libc/sharing.h"
#include "libc/signals.h"
#include "libc/stacks.h"
#include "libc/threads.h"
#include "job/write_host.h"
#include "op/host.h"
#include "op/observer.h"
#include "profile/observe.h"
#include "profile/picture.h"
#include "profile/profile.h"

static void host_watch(void)
{
    libc_real_load();
    libc_stacks_watch();
    libc_threads_watch();
}

const struct host host = {
    .watch = host_watch,
    .memory_take = libc_own_take,
    .memory_give_back = libc_own_give_back,
    .pages_check = libc_sharing_check,
    .pages_are_filled = libc_sharing_is_filled,
    .pages_are_heap = libc_sharing_is_heap,
    .thread_owns = libc_stacks_contain,
    .threads_are_several = libc_threads_are_several,
    .objects_adjust = bind_adjust_objects,
    .code_is_of_transport = libc_runtime_is_transport,
    .code_is_of_mpi = libc_runtime_is_of_mpi,
    .code_never_calls = libc_runtime_never_calls,
    .code_is_of_team = libc_runtime_is_team,
    .has_handlers = libc_signals_have_handlers,
};

const struct observer observer = {
    .is_wanted = profile_is_wanted,
    .start = profile_start,
    .stop = profile_stop,
    .leave = profile_leave,
    .forked_child = profile_fork,
    .used = observe_use_again,
    .all_used = observe_use_all,
    .draw = picture_start,
    .op_over = picture_op_over,
    .op_passed = picture_op_passed,
    .engine_polled = picture_engine_polled,
};

static offer_write_fn *host_write_now(void)
{
    return LIBC_REAL(write);
}

static void host_write_by(offer_write_fn *function)
{
    libc_real_set(LIBC_REAL_PLACE(write), (void *)function);
}

const struct write_host write_host = {.now = host_write_now, .call = host_write_by};

const char *(*const profile_function_name)(uint32_t function) = bind_function_name;

const struct mpi_names mpi_names = {
    .objects_adjust = bind_adjust_objects,
    .are_offered = bind_offers,
    .are_unseen = bind_bypass_is_name,
    .unknown_entry = bind_unknown_entry,
    .is_unknown = bind_unknown_is_behind,
    .entry = bind_entry,
    .is_past_entry = bind_is_past_entry,
    .are_followed = bind_is_followed_by_tool,
    .opens_deep = bind_adjust_deep,
    .forked_child = bind_forked_child,
};
