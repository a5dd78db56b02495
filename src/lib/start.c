/* SPDX-License-Identifier: MIT */
/* What happens when the preload is loaded into a process, MPI program or not:
 * as little as possible. Everything else waits for MPI_Init. */
#include "base/options.h"
#include "dedicate.h"
#include "bind/bind.h"

__attribute__((constructor)) static void lib_start(void)
{
    if (!options_are_off()) {
        options_read();
        lib_dedicate_core();
    }
    /* A program that is linked with its MPI has it loaded by now. Off or not: the exported names are there. */
    bind_adjust_objects();
}
