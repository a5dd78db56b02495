/* SPDX-License-Identifier: MIT */
#include "libc/thread_local.h"

#include <link.h>
#include <pthread.h>

/* Around what can be measured: libc keeps some room below, for libraries that are loaded later
 * (rtld.optional_static_tls and DTV surplus, 1664 bytes and a few for each namespace), and its description of the
 * thread, of some 2300 bytes, above or below, by the machine (ELF handling for thread-local storage, variants I and
 * II). */
enum { AROUND_BYTES = 4096 };

static void range_include(struct range *range, struct range other)
{
    *range = base_range_around(*range, other);
}

static int module_include(struct dl_phdr_info *module, size_t length_bytes, void *range)
{
    (void)length_bytes;
    for (int i = 0; i < module->dlpi_phnum && module->dlpi_tls_data != NULL; i++) {
        if (module->dlpi_phdr[i].p_type == PT_TLS)
            range_include(range, base_range_of(module->dlpi_tls_data, module->dlpi_phdr[i].p_memsz));
    }
    return 0;
}

/* What is loaded at the start has its variables in one block, beside libc's description of the thread, which is what
 * pthread_self() points to in glibc. */
struct range libc_thread_local_find(void)
{
    struct range block = base_range_of((const void *)pthread_self(), 1);
    dl_iterate_phdr(module_include, &block);
    return (struct range){block.low - AROUND_BYTES, block.high + AROUND_BYTES};
}
