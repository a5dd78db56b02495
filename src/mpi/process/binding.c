/* SPDX-License-Identifier: MIT */
/* What `bind` gets of the files for one ABI. */
#include "base/options.h"
#include "bind/bind.h"
#include "bind/names.h"
#include "libc/allocate.h"
#include "mpi/early/early_install.h"
#include "mpi/entries.h"
#include "mpi/real.h"
#include "op/observer.h"

_Static_assert(sizeof(struct real) == NAMES_COUNT * sizeof(void *), "one pointer per name");

/* In a profile nothing is received early, and no call refused for it. */
static bool binding_prepare(void *library)
{
    if (options.early_receive && !observer.is_wanted())
        early_install_functions();
    libc_allocate_follow();
    return abi_prepare(library);
}

const struct bind_backend ABI_BACKEND = {
    .abi = ABI_NAME,
    .prepare = binding_prepare,
    .entry_at = entries_at,
    .measured_at = entries_measured_at,
    .real = &real,
};
