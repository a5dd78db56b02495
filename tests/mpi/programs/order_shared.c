/* SPDX-License-Identifier: MIT */
/* Claim: what a rank writes to shared memory after a receive comes after what the sender wrote there before.
 * ranks: 3
 * arguments: memory window
 * quick: userfaultfd-user signal-1 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

enum { BYTES = 4096, ROUNDS = 3, DATA = 1 };

static MPI_Win window;

static void *share_file(void)
{
    static char name[64] = "/tmp/order_shared_XXXXXX";
    int made = check_rank() == 0 ? mkstemp(name) : -1;
    check(check_rank() != 0 || ftruncate(made, BYTES) == 0, "a file");
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    void *shared = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, open(name, O_RDWR), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 0)
        unlink(name);
    return shared;
}

static void *share_window(void)
{
    void *shared;
    MPI_Aint bytes;
    int unit;
    MPI_Win_allocate_shared(check_rank() == 0 ? BYTES : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &shared);
    if (check_rank() == 0)
        memset(shared, 0, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    return shared;
}

static void round_play(_Atomic int *counter, unsigned char *buffer)
{
    if (check_rank() == 1) {
        check_delay();
        check(atomic_fetch_add(counter, 1) % 2 == 0, "the receiver has not counted yet");
        check_send(buffer, CHECK_LARGE_BYTES, 0, DATA);
    } else if (check_rank() == 0) {
        check_recv(buffer, CHECK_LARGE_BYTES, 1, DATA);
        check(atomic_fetch_add(counter, 1) % 2 == 1, "the sender has counted");
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    bool is_window = strcmp(argv[1], "window") == 0;
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    _Atomic int *counter = is_window ? share_window() : share_file();
    check(counter != MAP_FAILED, "shared memory");
    for (int round = 0; round < ROUNDS; round++) {
        round_play(counter, buffer);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (is_window)
        MPI_Win_free(&window);
    return check_end();
}
