/* SPDX-License-Identifier: MIT */
/* Claim: a thread that MPI begins in a call that Lapwing does not see has no rights to what is held by protection keys,
 * so that nothing is held from then on. MPI's library is here a stand-in by the name of one.
 * plugin: yes
 * flags: -ldl
 * environment: LAPWING_HOLD=keys
 * passes: no_keys
 * defers: send receive
 * quick: openmpi4 signal-1 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>

#ifdef PLUGIN
void transport_begin_thread(void);

static void *transport_work(void *nothing)
{
    return nothing;
}

void transport_begin_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, transport_work, NULL) == 0)
        pthread_join(thread, NULL);
}

#else
#include <dlfcn.h>
#include <stdint.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = CHECK_LARGE_BYTES, ROUNDS = 10 };

/* Libraries are told by the names of their files. */
static void *transport_open(const char *program)
{
    char plugin[4096], library[64];
    snprintf(plugin, sizeof plugin, "%s_plugin.so", program);
    snprintf(library, sizeof library, "/tmp/libfabric.so.%d", (int)getpid());
    check(symlink(plugin, library) == 0, "the stand-in has the name of a library below MPI");
    void *transport = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    unlink(library);
    check(transport != NULL, "it is loaded");
    return transport;
}

static void messages(unsigned char *buffer)
{
    for (unsigned seed = 0; seed < ROUNDS; seed++)
        check_exchange_late(buffer, LENGTH, seed, 0);
}

int main(int argc, char **argv)
{
    if (!check_has_keys()) {
        return check_skip("this processor has no protection keys");
    }
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(LENGTH);
    messages(buffer);
    void (*begin_thread)(void) =
        (void (*)(void))(uintptr_t)dlsym(transport_open(argv[0]), "transport_begin_thread"); /* POSIX: dlsym() */
    begin_thread();
    messages(buffer);
    return check_end();
}
#endif
