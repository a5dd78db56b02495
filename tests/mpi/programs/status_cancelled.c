/* SPDX-License-Identifier: MIT */
/* Claim: the status of a receive that has returned early says "not cancelled" as MPI's own does, also after calls that
 * leave that mark as they find it: MPICH's probes, and operations on files.
 * defers: receive
 * quick: openmpi4 mpich4 */
#include <unistd.h>

#include "check.h"

enum { ROUNDS = 4, LENGTH = 2 * CHECK_LARGE_BYTES }; /* MPICH keeps the mark beside bits that count receives */

static void check_mark(const MPI_Status *status, const char *call)
{
    int is_cancelled = -1;
    MPI_Test_cancelled(status, &is_cancelled);
    check(is_cancelled == 0, call);
}

static void receive(unsigned char *buffer, MPI_Status *status)
{
    memset(status, 0x55, sizeof *status);
    MPI_Recv(buffer, LENGTH, MPI_BYTE, 1, 0, MPI_COMM_WORLD, status);
}

static void probe(unsigned char *buffer)
{
    MPI_Status status;
    receive(buffer, &status);
    MPI_Probe(1, 1, MPI_COMM_WORLD, &status);
    check_mark(&status, "after MPI_Probe");
    check_recv(buffer, 1, 1, 1);
}

static void write_file(MPI_File file, unsigned char *buffer)
{
    MPI_Status status;
    receive(buffer, &status);
    MPI_File_write(file, buffer, 100, MPI_BYTE, &status);
    check_mark(&status, "after MPI_File_write");
    check_recv(buffer, 1, 1, 1);
}

static void ask(unsigned char *buffer)
{
    char path[64] = "/tmp/status_cancelled_XXXXXX";
    MPI_File file;
    close(mkstemp(path));
    check(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS, "opening a file");
    for (int round = 0; round < ROUNDS; round++) {
        probe(buffer);
        write_file(file, buffer);
    }
    MPI_File_close(&file);
    unlink(path);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(LENGTH);
    for (int message = 0; check_rank() == 1 && message < 2 * ROUNDS; message++) {
        check_delay();
        check_send(buffer, LENGTH, 0, 0);
        check_send(buffer, 1, 0, 1);
    }
    if (check_rank() == 0)
        ask(buffer);
    return check_end();
}
