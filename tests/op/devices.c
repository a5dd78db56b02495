/* SPDX-License-Identifier: MIT */
/* Claim: what is open tells whether something may know memory by its pages; what is not known to be harmless may, and
 * so may everything where the list of descriptors cannot be read. What is opened later is seen at the next look. */
#include "op/devices.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../base/claim.h"

static _Atomic int lowest_free = DEVICES_UNLISTED;

/* A child each, since a device once open may never go away. 77 from one: it could not be tried. */
static void claim_in_child(bool (*run)(void), const char *text)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(run() ? 0 : 1);
    waitpid(child, &status, 0);
    claim(WIFEXITED(status) && WEXITSTATUS(status) == 0, text);
}

static bool is_found_later(int descriptor, enum reason reason)
{
    return descriptor < 0 || devices_look(&lowest_free, false) == reason;
}

static bool files_are_harmless(void)
{
    int ends[4];
    sigset_t none;
    sigemptyset(&none);
    bool are_open = pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, ends + 2) == 0;
    are_open &= open("/dev/null", O_RDWR) >= 0 && open("/dev/zero", O_RDWR) >= 0 && open("/dev/urandom", O_RDONLY) >= 0;
    are_open &= eventfd(0, 0) >= 0 && epoll_create1(0) >= 0 && timerfd_create(CLOCK_MONOTONIC, 0) >= 0;
    are_open &= signalfd(-1, &none, 0) >= 0 && open("/", O_RDONLY) >= 0 && open("/proc/self/maps", O_RDONLY) >= 0;
    are_open &= posix_openpt(O_RDWR | O_NOCTTY) >= 0;
    return are_open && devices_look(&lowest_free, false) == REASON_NONE &&
           devices_look(&lowest_free, false) == REASON_NONE;
}

static bool ring_is_found(void)
{
    struct io_uring_params parameters = {0};
    bool was_none = devices_look(&lowest_free, false) == REASON_NONE;
    return was_none && is_found_later((int)syscall(SYS_io_uring_setup, 1, &parameters), REASON_MEMORY_DEVICE);
}

/* Among other descriptors that come and go. */
static bool ring_is_found_in_a_gap(void)
{
    struct io_uring_params parameters = {0};
    int gap = open("/dev/null", O_RDONLY);
    int last = open("/dev/null", O_RDONLY);
    close(gap);
    bool was_none = devices_look(&lowest_free, false) == REASON_NONE;
    int ring = (int)syscall(SYS_io_uring_setup, 1, &parameters);
    return was_none && last > gap && is_found_later(ring, REASON_MEMORY_DEVICE);
}

/* The same number is a socket, then an event's, in turn. */
static void *open_and_close(void *is_over)
{
    while (!atomic_load_explicit((_Atomic bool *)is_over, memory_order_relaxed)) {
        close(socket(AF_UNIX, SOCK_STREAM, 0));
        close(eventfd(0, 0));
    }
    return NULL;
}

static bool others_come_and_go(void)
{
    enum { LOOKS = 50000 };
    _Atomic bool is_over = false;
    pthread_t thread;
    bool are_harmless = pthread_create(&thread, NULL, open_and_close, &is_over) == 0;
    for (int i = 0; i < LOOKS && are_harmless; i++) {
        lowest_free = DEVICES_UNLISTED;
        are_harmless = devices_look(&lowest_free, false) == REASON_NONE;
    }
    is_over = true;
    pthread_join(thread, NULL);
    return are_harmless;
}

/* A miscellaneous device that no list has (as root: it need not exist to be made). */
static bool unknown_device_is_found(void)
{
    bool was_none = devices_look(&lowest_free, false) == REASON_NONE;
    int device = open("/dev/loop-control", O_RDWR);
    device = device < 0 ? open("/dev/net/tun", O_RDWR) : device;
    device = device < 0 ? open("/dev/hwrng", O_RDONLY) : device;
    return was_none && is_found_later(device, REASON_MEMORY_DEVICE);
}

static bool transport_is_found(void)
{
    bool was_none = devices_look(&lowest_free, false) == REASON_NONE;
    int file = open("/dev/knem.unit", O_CREAT | O_RDWR, 0600);
    unlink("/dev/knem.unit");
    return was_none && is_found_later(file, REASON_TRANSPORT);
}

static bool transport_is_allowed(void)
{
    int file = open("/dev/knem.unit", O_CREAT | O_RDWR, 0600);
    unlink("/dev/knem.unit");
    lowest_free = DEVICES_UNLISTED;
    return file < 0 || devices_look(&lowest_free, true) == REASON_NONE;
}

static bool allowed_transport_hides_nothing(void)
{
    struct io_uring_params parameters = {0};
    int ring = (int)syscall(SYS_io_uring_setup, 1, &parameters);
    bool is_allowed = transport_is_allowed();
    lowest_free = DEVICES_UNLISTED;
    return ring < 0 ? is_allowed : devices_look(&lowest_free, true) == REASON_MEMORY_DEVICE;
}

static bool unreadable_list_is_a_device(void)
{
    char folder[] = "/tmp/lapwing-test-XXXXXX";
    bool is_made = mkdtemp(folder) != NULL;
    bool is_blind = is_made && chroot(folder) == 0;
    bool is_found = !is_blind || devices_look(&lowest_free, false) == REASON_MEMORY_DEVICE;
    return is_found;
}

int main(void)
{
    claim_in_child(files_are_harmless, "files, pipes, sockets, timers, terminals, memory devices are harmless");
    claim_in_child(others_come_and_go, "what another thread closes, and opens under its number, is harmless");
    claim_in_child(ring_is_found, "a ring of io_uring is none of them");
    claim_in_child(ring_is_found_in_a_gap, "a ring that takes a low number is found, too");
    claim_in_child(unknown_device_is_found, "a device of which nothing is known is taken for one that knows memory");
    claim_in_child(transport_is_found, "an RDMA device is known by its name");
    claim_in_child(transport_is_allowed, "where memory stays in place it is no obstacle");
    claim_in_child(allowed_transport_hides_nothing, "and what else is open is found beside it");
    claim_in_child(unreadable_list_is_a_device, "where nothing can be listed there may be a device");
    return 0;
}
