/* SPDX-License-Identifier: MIT */
/* Claim: memory that the program watches with a userfaultfd of its own stays watched after messages.
 * quick: openmpi4 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

enum { PAGE = 4096 };

static int watcher;
static _Atomic int fills;

/* Gives every missing page its content, as a pager does. */
static void *fill_on(void *unused)
{
    static char page[PAGE] __attribute__((aligned(PAGE)));
    struct uffd_msg message;
    memset(page, 'p', PAGE);
    while (read(watcher, &message, sizeof message) == sizeof message) {
        unsigned long address = message.arg.pagefault.address & ~(PAGE - 1UL);
        struct uffdio_copy copy = {.dst = address, .src = (unsigned long)page, .len = PAGE};
        atomic_fetch_add(&fills, 1);
        ioctl(watcher, UFFDIO_COPY, &copy);
    }
    return unused;
}

static void watch(unsigned char *memory, size_t length_bytes)
{
    pthread_t thread;
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register range = {.range = {(unsigned long)memory, length_bytes},
                                    .mode = UFFDIO_REGISTER_MODE_MISSING};
    ioctl(watcher, UFFDIO_API, &api);
    check(ioctl(watcher, UFFDIO_REGISTER, &range) == 0, "the program may watch its memory");
    pthread_create(&thread, NULL, fill_on, NULL);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    watcher = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    if (watcher < 0) {
        puts("this machine has no userfaultfd for this user");
        MPI_Finalize();
        return 77;
    }
    unsigned char *memory = mmap(NULL, CHECK_LARGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    watch(memory, CHECK_LARGE_BYTES);
    if (check_rank() == 1) {
        check_send_late(memory, CHECK_LARGE_BYTES, 5, 0, 0);
        return check_end();
    }
    check_recv(memory, CHECK_LARGE_BYTES, 1, 0);
    check(check_is_filled(memory, CHECK_LARGE_BYTES, 5), "the message");
    madvise(memory, PAGE, MADV_DONTNEED);
    int before = atomic_load(&fills);
    check(memory[0] == 'p' && atomic_load(&fills) == before + 1, "the page is asked for again");
    return check_end();
}
