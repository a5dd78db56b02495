/* SPDX-License-Identifier: MIT */
/* Claim: the program's own SIGSEGV handler gets the program's own faults and no others, and may use what is awaited.
 * defers: receive
 * quick: openmpi4 mpich4 */
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

static unsigned char *guard, *buffer;
static volatile int fault_count;
static volatile unsigned char seen;

static void fault_handle(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (number != SIGSEGV || info->si_addr != guard || info->si_code != SEGV_ACCERR)
        _exit(33);
    fault_count++;
    seen = ((volatile unsigned char *)buffer)[CHECK_LARGE_BYTES / 2];
    mprotect(guard, 4096, PROT_READ | PROT_WRITE);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    guard = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct sigaction action = {.sa_sigaction = fault_handle, .sa_flags = SA_SIGINFO}, old;
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGSEGV, NULL, &old);
    check(old.sa_sigaction == fault_handle, "sigaction() gives back the program's own handler");
    for (int i = 0; i < 5; i++) {
        if (check_rank() == 1) {
            check_send_late(buffer, CHECK_LARGE_BYTES, i, 0, 0);
            continue;
        }
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
        *(volatile unsigned char *)guard = 1; /* the handler opens the page */
        check(seen == check_byte(CHECK_LARGE_BYTES / 2, i), "the handler's look waited");
        check(check_is_filled(buffer, CHECK_LARGE_BYTES, i), "the message arrived");
        mprotect(guard, 4096, PROT_NONE);
    }
    check(fault_count == (check_rank() == 0 ? 5 : 0), "one call per own fault, none for pending buffers");
    return check_end();
}
