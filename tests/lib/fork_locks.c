/* SPDX-License-Identifier: MIT */
/* Claim: a child of fork() finds no lock of Lapwing's taken that another thread had at that moment. Without MPI: these
 * entries are at work in every process. The argument says which. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, FORKS = 2000, PAGE_BYTES = 4096, CHILD_S = 5 };

struct memory {
    char *page;
    FILE *stream; /* each thread has its own: libc's lock of a stream is not in the way */
};

static void (*use)(struct memory memory);
static volatile pid_t child;

/* All signals are blocked where it hangs. */
static void end_child(int number)
{
    kill(child, number == SIGALRM ? SIGKILL : number);
}

static void use_lock(struct memory memory)
{
    mlock(memory.page, PAGE_BYTES);
    munlock(memory.page, PAGE_BYTES);
}

static void use_stream(struct memory memory)
{
    setvbuf(memory.stream, memory.page, _IOFBF, PAGE_BYTES);
}

static struct memory memory_new(void)
{
    void *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return (struct memory){page, fopen("/dev/null", "w")};
}

static void *thread_run(void *unused)
{
    struct memory own = memory_new();
    for (;;)
        use(own);
    return unused;
}

static int child_run(struct memory memory)
{
    int status = 0;
    child = fork();
    if (child == 0) {
        use(memory);
        _exit(0);
    }
    alarm(CHILD_S);
    waitpid(child, &status, 0);
    alarm(0);
    return status;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    struct memory own = memory_new();
    signal(SIGALRM, end_child);
    use = argc > 1 && strcmp(argv[1], "stream") == 0 ? use_stream : use_lock;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread, NULL, thread_run, NULL);
    for (int i = 0; i < FORKS; i++)
        if (child_run(own) != 0)
            return printf("child %d hangs\n", i), 1;
    return 0;
}
