/* SPDX-License-Identifier: MIT */
/* Claim: where messages have come before they are waited for, their buffers are soon held no more; and where they come
 * late from then on, to the same place of the program, they are held again. What is learnt are times, which other
 * tests on the same cores disturb: they are held against only with CHECK_TIMES=1 in the environment. Data always are.
 * quick: openmpi4 mpich4 userfaultfd signal-1
 * environment: LAPWING_RECEIVE_WAITS=on LAPWING_LEARN=on LAPWING_PROGRESS=event OMPI_MCA_btl=tcp,self */
#include <dlfcn.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

enum { LARGE = CHECK_LARGE_BYTES, ROUNDS = 32, FIRST = 8, WORK_US = 20000, GO = 1, DATA = 2 };

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

/* How often the buffer was held where messages come early, and where they come late; rank 0 knows. */
struct holds {
    int early;
    int late;
};

static struct holds exchange(unsigned char *buffer)
{
    if (check_rank() == 0) {
        int early = receive(buffer, false);
        return (struct holds){early, receive(buffer, true)};
    }
    send(buffer, false);
    send(buffer, true);
    return (struct holds){0, 0};
}

int main(int argc, char **argv)
{
    setenv("MPIR_CVAR_NOLOCAL", "1", 1); /* MPICH over TCP, too */
    check_start(&argc, &argv);
    bool has_engine = dlsym(RTLD_DEFAULT, "lapwing_progress_now") != NULL;
    unsigned char *buffer = check_buffer_new(LARGE);
    check_fill(buffer, LARGE, DATA);
    struct holds held = exchange(buffer);
    bool is_judged = check_rank() == 0 && getenv("CHECK_TIMES") != NULL;
    check(!is_judged || held.early <= (ROUNDS - FIRST) / 4, "held for nothing");
    check(!is_judged || !has_engine || held.late >= (ROUNDS - FIRST) / 2, "held again");
    return check_end();
}
