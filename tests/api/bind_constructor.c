/* SPDX-License-Identifier: MIT */
/* Claim: a library's constructor, which runs under the dynamic linker's lock, may look a function up while another
 * thread binds, which needs that lock.
 * Compiled three times: the program, the library (PLUGIN), and what its constructor loads (EXTRA). */
#include <dlfcn.h>
#include <unistd.h>

#if defined(EXTRA)

int bind_extra = 1;

#elif defined(PLUGIN)

extern volatile int is_constructing;
extern volatile int is_found;
extern const char *extra_path;

__attribute__((constructor)) static void begin(void)
{
    enum { OTHER_BINDS_US = 400000 };
    is_constructing = 1;
    usleep(OTHER_BINDS_US);
    dlopen(extra_path, RTLD_NOW | RTLD_GLOBAL); /* objects have changed: the look-up wants to bind */
    is_found = dlsym(RTLD_DEFAULT, "bind_extra") != NULL;
}

#else

#include "bind_loading.h"

int main(int argc, char **argv)
{
    enum { CONSTRUCTOR_WAITS_US = 100000 };
    void *plugin = NULL;
    void *mpi = argc == 4 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
    if (mpi == NULL)
        return 2;
    pthread_t thread = loading_begin(argv[2], argv[3]);
    usleep(CONSTRUCTOR_WAITS_US);
    void *init = dlsym(mpi, "MPI_Init");
    pthread_join(thread, &plugin);
    return init == NULL || plugin == NULL || !is_found;
}

#endif
