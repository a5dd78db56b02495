/* SPDX-License-Identifier: MIT */
/* Claim: a child may use all memory, whatever another thread's messages did while it was forked.
 * defers: send receive
 * flags: -pthread
 * timeout: 60
 * environment: LAPWING_MATCH=off
 * quick: openmpi4 mpich4 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { FORKS = 40, OFFSET = 4096 }; /* a page of its own for the message, or a shared one */

static unsigned char *sent;
static unsigned char *received;
static _Atomic bool is_over;

static void *exchange_on(void *unused)
{
    int more = 1;
    for (int round = 0; more; round++) {
        int peer = 1 - check_rank();
        int before = round % 2 ? OFFSET : 1000;
        more = check_rank() == 1 || !atomic_load(&is_over);
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (check_rank() == 0)
            check_send(sent + before, CHECK_LARGE_BYTES, peer, 0);
        check_recv(received + before, CHECK_LARGE_BYTES, peer, 0);
        if (check_rank() == 1)
            check_send(sent + before, CHECK_LARGE_BYTES, peer, 0);
    }
    return unused;
}

/* The bytes before the message stand on a page that is held with it. */
static bool child_is_well(void)
{
    bool is_kept = check_is_filled(sent, 1000, 3) && check_is_filled(received, 1000, 4);
    memset(sent, 1, CHECK_LARGE_BYTES + OFFSET);
    memset(received, 1, CHECK_LARGE_BYTES + OFFSET);
    return is_kept;
}

static void fork_often(void)
{
    for (int i = 0; i < FORKS; i++) {
        int result = -1;
        pid_t child = fork();
        if (child == 0)
            _exit(child_is_well() ? 0 : 1);
        waitpid(child, &result, 0);
        check(WIFEXITED(result) && WEXITSTATUS(result) == 0, "the child is well");
    }
}

static unsigned char *buffer_on_page(void)
{
    return memset(aligned_alloc(OFFSET, CHECK_LARGE_BYTES + OFFSET), 0, CHECK_LARGE_BYTES + OFFSET);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    check_start_multiple(&argc, &argv);
    sent = buffer_on_page();
    received = buffer_on_page();
    check_fill(sent, OFFSET, 3);
    check_fill(received, OFFSET, 4);
    pthread_create(&thread, NULL, exchange_on, NULL);
    if (check_rank() == 0)
        fork_often();
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    return check_end();
}
