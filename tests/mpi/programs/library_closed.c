/* SPDX-License-Identifier: MIT */
/* Claim: dlclose() of a library whose data are being sent leaves the message whole.
 * defers: send
 * quick: openmpi4 */
#include <dlfcn.h>
#include <unistd.h>

#include "check.h"

/* The data go away inside the dynamic linker, past munmap(). Not initialized,
 * so that they are anonymous memory, which is held. */
static void *library_make(char *folder)
{
    char command[256];
    check(mkdtemp(folder) != NULL, "a folder");
    snprintf(command, sizeof command,
             "cd %s && echo 'char library_data[%d];' > data.c && env -u LD_PRELOAD cc -shared -fPIC -o data.so data.c",
             folder, 2 * CHECK_LARGE_BYTES);
    check(system(command) == 0, "a library");
    snprintf(command, sizeof command, "%s/data.so", folder);
    void *library = dlopen(command, RTLD_NOW);
    snprintf(command, sizeof command, "rm -r %s", folder);
    check(system(command) == 0 && library != NULL, "the library is loaded");
    return library;
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/library_closed_XXXXXX";
    check_start(&argc, &argv);
    if (check_rank() == 1) {
        unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
        MPI_Barrier(MPI_COMM_WORLD);
        check_recv_late(buffer, CHECK_LARGE_BYTES, 3, 0, 0, "the message");
        return check_end();
    }
    void *library = library_make(folder);
    unsigned char *data = dlsym(library, "library_data");
    data = (unsigned char *)(((size_t)data + 8191) & ~(size_t)4095);
    check_fill(data, CHECK_LARGE_BYTES, 3);
    MPI_Barrier(MPI_COMM_WORLD);
    check_send(data, CHECK_LARGE_BYTES, 1, 0);
    check(dlclose(library) == 0, "dlclose()");
    return check_end();
}
