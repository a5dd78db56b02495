/* SPDX-License-Identifier: MIT */
/* Claim: a thread may use bytes beside what another thread receives, even when the sender waits for it first.
 * flags: -pthread
 * environment: LAPWING_MATCH=off */
#include <pthread.h>
#include <sys/mman.h>

#include "check.h"

enum { LENGTH = 300001, BEFORE = 100 };

static unsigned char *memory;

static void *thread_receive(void *comm)
{
    MPI_Recv(memory + BEFORE, LENGTH, MPI_BYTE, 1, 5, *(MPI_Comm *)comm, MPI_STATUS_IGNORE);
    check(check_is_filled(memory + BEFORE, LENGTH, 7), "the message arrived");
    return NULL;
}

static void rank_receive(MPI_Comm comm)
{
    pthread_t thread;
    pthread_create(&thread, NULL, thread_receive, &comm);
    check_delay(); /* the receive has begun */
    memory[0]++;
    memory[BEFORE + LENGTH]++;
    check_send(memory, 0, 1, 6);
    pthread_join(thread, NULL);
    check(memory[0] == 1 && memory[BEFORE + LENGTH] == 1, "the bytes beside are as written");
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    check_start_multiple(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    memory = mmap(NULL, 2 * LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (check_rank() == 0) {
        rank_receive(comm);
    } else {
        check_fill(memory, LENGTH, 7);
        check_recv(memory + LENGTH, 0, 0, 6);
        MPI_Send(memory, LENGTH, MPI_BYTE, 0, 5, comm);
    }
    MPI_Comm_free(&comm);
    return check_end();
}
