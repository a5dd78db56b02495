/* SPDX-License-Identifier: MIT */
/* Claim: the child of a process in which another thread was binding can call MPI. That thread waits for the dynamic
 * linker's lock, which a library's constructor has (bind_constructor.c). */
#include <sys/wait.h>

#include "bind_loading.h"
#include "fake_mpi.h"

/* As a module has it that was not linked with the library; weak, so that this links. */
#pragma weak MPI_Wtime

enum { OTHERS_NEED_US = 100000, CHILD_S = 5 };

static void *bind(void *mpi)
{
    return dlsym(mpi, "MPI_Init");
}

static int child_fails(void)
{
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_S);
        _exit(MPI_Wtime() != 42.5);
    }
    waitpid(child, &status, 0);
    return status != 0;
}

int main(int argc, char **argv)
{
    pthread_t binder;
    void *mpi = argc == 4 && MPI_Wtime != NULL ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
    if (mpi == NULL)
        return 2;
    pthread_t loader = loading_begin(argv[2], argv[3]);
    pthread_create(&binder, NULL, bind, mpi);
    usleep(OTHERS_NEED_US);
    int is_wrong = child_fails();
    pthread_join(binder, NULL);
    pthread_join(loader, NULL);
    return is_wrong;
}
