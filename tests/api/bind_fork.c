/* SPDX-License-Identifier: MIT */
/* Claim: the child of a process in which another thread was binding can call MPI. That thread waits for the dynamic
 * linker's lock, which a library's constructor has (bind_constructor.c). */
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_mpi.h"

/* As a module has it that was not linked with the library; weak, so that this links. */
#pragma weak MPI_Wtime

enum { OTHERS_NEED_US = 100000, CHILD_S = 5 };

volatile int is_constructing;
volatile int is_found;
const char *extra_path;

static void *load(void *path)
{
    return dlopen(path, RTLD_NOW);
}

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
    pthread_t loader, binder;
    void *mpi = argc == 4 && MPI_Wtime != NULL ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
    if (mpi == NULL)
        return 2;
    extra_path = argv[3];
    pthread_create(&loader, NULL, load, argv[2]);
    while (!is_constructing)
        usleep(1);
    pthread_create(&binder, NULL, bind, mpi);
    usleep(OTHERS_NEED_US);
    int is_wrong = child_fails();
    pthread_join(binder, NULL);
    pthread_join(loader, NULL);
    return is_wrong;
}
