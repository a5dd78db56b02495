/* SPDX-License-Identifier: MIT */
/* Claim: where messages have come before they are waited for, their buffers are soon held no more; and where they come
 * late from then on, to the same place of the program, they are held again.
 * quick: openmpi4 mpich4 userfaultfd signal-1
 * environment: LAPWING_RECEIVE_WAITS=on LAPWING_LEARN=on LAPWING_PROGRESS=event OMPI_MCA_btl=tcp,self
 * defers: receive */
#include <dlfcn.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

enum { LARGE = CHECK_LARGE_BYTES, ROUNDS = 24, FIRST = 8, WORK_US = 20000, GO = 1, DATA = 2 };

/* Has the buffer's second page gone? Lapwing leaves this call alone. */
static bool is_held(unsigned char *buffer)
{
    uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    unsigned char is_there = 1;
    uintptr_t page = ((uintptr_t)buffer / page_bytes + 1) * page_bytes;
    check(mincore((void *)page, page_bytes, &is_there) == 0, "asking for a page");
    return (is_there & 1) == 0;
}

/* One call site. Returns how often the buffer was held, after the first rounds. */
static int receive(unsigned char *buffer, bool is_late)
{
    int held = 0;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request request;
        memset(buffer, 0, LARGE);
        MPI_Irecv(buffer, LARGE, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, &request);
        held += round >= FIRST && is_held(buffer);
        check_send(NULL, 0, 1, GO);
        if (!is_late)
            usleep(WORK_US);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        usleep(WORK_US);
        check(check_is_filled(buffer, LARGE, DATA), "the message");
    }
    return held;
}

static void send(unsigned char *buffer, bool is_late)
{
    for (int round = 0; round < ROUNDS; round++) {
        check_recv(NULL, 0, 0, GO);
        if (is_late)
            usleep(WORK_US / 2);
        check_send(buffer, LARGE, 0, DATA);
    }
}

int main(int argc, char **argv)
{
    setenv("MPIR_CVAR_NOLOCAL", "1", 1); /* MPICH over TCP, too */
    check_start(&argc, &argv);
    bool has_engine = dlsym(RTLD_DEFAULT, "lapwing_progress_now") != NULL;
    unsigned char *buffer = check_buffer_new(LARGE);
    check_fill(buffer, LARGE, DATA);
    for (int is_late = 0; is_late < 2; is_late++) {
        if (check_rank() == 1) {
            send(buffer, is_late);
            continue;
        }
        int held = receive(buffer, is_late);
        check(is_late || held <= (ROUNDS - FIRST) / 4, "held for nothing");
        check(!is_late || !has_engine || held >= (ROUNDS - FIRST) / 2, "held again");
    }
    return check_end();
}
