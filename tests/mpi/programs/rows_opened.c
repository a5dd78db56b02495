/* SPDX-License-Identifier: MIT */
/* Claim: a page that the program's own handler of SIGSEGV opens is opened, although what is sent from there lies beside
 * a row that is still being received.
 * defers: receive
 * quick: openmpi4 mpich4 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>

#include "check.h"

enum { PAGE = 4096, PADDING = 16, ROW = 3 * CHECK_LARGE_BYTES, NEXT = 100000, ROOM = ROW + 64 * PAGE, SEED = 5 };

static unsigned char *last_page;
static volatile sig_atomic_t opened;

static void page_open(int number, siginfo_t *information, void *context)
{
    (void)context;
    unsigned char *address = information->si_addr;
    bool is_last_page = address >= last_page && address < last_page + PAGE;
    opened = is_last_page && mprotect(last_page, PAGE, PROT_READ | PROT_WRITE) == 0;
    if (!opened)
        signal(number, SIG_DFL);
}

static void page_close(void)
{
    struct sigaction action = {.sa_sigaction = page_open, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    check(mprotect(last_page, PAGE, PROT_NONE) == 0, "the page can be closed");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char *row = room + PADDING;
    unsigned char *next = row + ROW;
    int peer = 1 - check_rank();
    last_page = room + (PADDING + ROW + NEXT - 1) / PAGE * PAGE;
    memset(room, 0, ROOM);
    check_fill(next, NEXT, check_rank());
    if (check_rank() == 0) {
        page_close();
        check_recv(row, ROW, 1, 0);
    } else {
        check_fill(row, ROW, SEED);
        check_delay(); /* the receive comes first */
        check_send(row, ROW, 0, 0);
    }
    MPI_Sendrecv_replace(next, NEXT, MPI_BYTE, peer, 1, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(check_is_filled(next, NEXT, peer), "the peer's row");
    check(check_is_filled(row, ROW, SEED), "the row that was received");
    check(check_rank() == 1 || opened, "the handler has opened the page");
    return check_end();
}
