/* SPDX-License-Identifier: MIT */
/* Claim: the line that touches a buffer first is found, whoever touches it: the program's own code, libc's
 * on its behalf, a system call, the next MPI call, or a thread.
 * ranks: 2
 * flags: -pthread
 */
#include <mpi.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 1 << 15 };

static double *buffer;
static double *other;
static volatile double sink;

static void receive_and_add(void)
{
    double sum = 0;
    MPI_Recv(buffer, COUNT, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* CALL loop */
    for (int i = 0; i < COUNT; i++)
        sum += buffer[i]; /* TOUCH loop */
    sink = sum;
}

static void receive_and_copy(void)
{
    MPI_Recv(buffer, COUNT, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* CALL copy */
    memcpy(other, buffer, (size_t)(1 + (sink < -1e9)) * COUNT * 4);               /* TOUCH copy */
}

static void receive_and_write(void)
{
    int file = open("/dev/null", O_WRONLY);
    MPI_Recv(buffer, COUNT, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* CALL file */
    if (write(file, buffer, COUNT * 8) != COUNT * 8)                              /* TOUCH file */
        abort();
    close(file);
}

static void receive_and_send_on(void)
{
    MPI_Recv(buffer, COUNT, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* CALL forward */
    MPI_Send(buffer, COUNT, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD);                    /* TOUCH forward */
}

static void *read_one(void *unused)
{
    sink = buffer[COUNT - 1]; /* TOUCH thread */
    return NULL;
}

static void receive_and_start_thread(void)
{
    pthread_t thread;
    MPI_Recv(buffer, COUNT, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* CALL thread */
    pthread_create(&thread, NULL, read_one, NULL);
    pthread_join(thread, NULL);
}

static void receive_all(void)
{
    receive_and_add();
    receive_and_copy();
    receive_and_write();
    receive_and_send_on();
    receive_and_start_thread();
}

/* A reader of a sent buffer is not of interest: only the write counts. */
static void send_all(void)
{
    for (int tag = 1; tag <= 3; tag++)
        MPI_Send(other, COUNT, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD);
    MPI_Send(buffer, COUNT, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD); /* CALL send */
    sink = buffer[3];
    buffer[5] = 7; /* TOUCH send */
    MPI_Recv(buffer, COUNT, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(other, COUNT, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    buffer = calloc(COUNT, sizeof *buffer);
    other = calloc(COUNT, sizeof *other);
    memset(buffer, 1, COUNT * sizeof *buffer);
    for (int i = 0; i < 3; i++) {
        if (rank == 0)
            send_all();
        else
            receive_all();
    }
    MPI_Finalize();
    return 0;
}
