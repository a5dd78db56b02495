/* SPDX-License-Identifier: MIT */
/* What scripts start all day: a thread, a handler, memory, a child; no MPI. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void handle(int number)
{
    (void)number;
}

static void *work(void *argument)
{
    return argument;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handle};
    pthread_t thread;
    int status = 1;
    sigfillset(&action.sa_mask);
    free(malloc(1 << 20));
    if (sigaction(SIGUSR1, &action, NULL) != 0 || sigaction(SIGUSR1, NULL, &action) != 0)
        return 1;
    if (pthread_create(&thread, NULL, work, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 2;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, &status, 0);
    return sigismember(&action.sa_mask, SIGSEGV) == 1 ? status : 3;
}
