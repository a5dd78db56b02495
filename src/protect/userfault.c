/* SPDX-License-Identifier: MIT */
/* The backends on userfaultfd(2): a touch blocks in the kernel.
 *
 * No EVENT_ feature is asked for: with them madvise, munmap and mremap would
 * wait for a reader, and a single-threaded program has none. Without EVENT_REMAP
 * the kernel also drops the registration of pages that mremap takes away, which
 * is what lets MPI write to them in transit. */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stddef.h>
#include <sys/ioctl.h>

#include "base/descriptors.h"
#include "base/pages.h"
#include "protect/backend.h"
#include "protect/kernel.h"
#include "protect/refusal.h"
#include "protect/reserve.h"

/* Newer than Debian 12's headers, or than glibc's. */
enum {
    USERFAULT_USER_MODE_ONLY = 1,       /* Linux 5.11 */
    USERFAULT_EXACT_ADDRESS = 1 << 11,  /* Linux 5.18: the byte, not its page */
    USERFAULT_WP_UNPOPULATED = 1 << 13, /* Linux 6.4 */
    USERFAULT_DEVICE_NEW = 0xAA00,      /* _IO(0xAA, 0) of /dev/userfaultfd, Linux 6.1 */
    USERFAULT_POPULATE_READ = 22,       /* MADV_POPULATE_READ, Linux 5.14 */
    USERFAULT_MESSAGES_MAX = 16,
};

/* Written by start and stop; nobody else runs then. */
static struct {
    int descriptor;
    uint64_t features;
} userfault = {.descriptor = -1};

static int open_by_device(void)
{
    int device = kernel_open("/dev/userfaultfd", O_RDWR);
    if (device < 0)
        return -1;
    int opened = (int)syscall(SYS_ioctl, device, USERFAULT_DEVICE_NEW, O_CLOEXEC | O_NONBLOCK);
    kernel_close(device);
    return opened;
}

static int open_full(void)
{
    int opened = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
    return opened >= 0 ? opened : open_by_device();
}

static int open_user(void)
{
    return (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | USERFAULT_USER_MODE_ONLY);
}

/* Features can be agreed once per descriptor, so asking takes one of its own. */
static bool features_agree(int opened, uint64_t wanted, uint64_t *offered)
{
    struct uffdio_api api = {.api = UFFD_API, .features = wanted};
    bool is_done = kernel_ioctl(opened, UFFDIO_API, &api) == 0;
    *offered = api.features;
    return is_done;
}

static bool features_offered(int (*open_descriptor)(void), uint64_t *offered)
{
    int opened = open_descriptor();
    if (opened < 0)
        return false;
    bool is_done = features_agree(opened, 0, offered);
    kernel_close(opened);
    return is_done;
}

static bool start_with(int (*open_descriptor)(void))
{
    uint64_t offered = 0;
    if (!features_offered(open_descriptor, &offered) || !(offered & UFFD_FEATURE_PAGEFAULT_FLAG_WP))
        return false;
    userfault.features =
        offered & (UFFD_FEATURE_PAGEFAULT_FLAG_WP | USERFAULT_EXACT_ADDRESS | USERFAULT_WP_UNPOPULATED);
    userfault.descriptor = base_descriptor_own(open_descriptor());
    return userfault.descriptor >= 0 && features_agree(userfault.descriptor, userfault.features, &offered);
}

static bool full_start(void)
{
    return start_with(open_full);
}

static bool user_start(void)
{
    return start_with(open_user);
}

static void userfault_stop(void)
{
    base_descriptor_close(userfault.descriptor);
    userfault.descriptor = -1;
}

static struct uffdio_range kernel_range(struct range pages)
{
    return (struct uffdio_range){pages.low, pages.high - pages.low};
}

static bool pages_register(struct range pages, uint64_t mode)
{
    struct uffdio_register registration = {.range = kernel_range(pages), .mode = mode};
    return kernel_ioctl(userfault.descriptor, UFFDIO_REGISTER, &registration) == 0;
}

static bool userfault_access_close(struct range pages)
{
    return pages_register(pages, UFFDIO_REGISTER_MODE_MISSING);
}

static bool userfault_copying_close(struct range pages)
{
    return pages_register(pages, UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP);
}

static bool pages_wake(struct range pages)
{
    enum { ATTEMPTS = 100 };
    struct uffdio_range range = kernel_range(pages);
    int attempts = 0;
    while (kernel_ioctl(userfault.descriptor, UFFDIO_WAKE, &range) != 0)
        if (++attempts == ATTEMPTS)
            return false;
    return true;
}

/* Who is not woken sleeps for ever. */
static void userfault_wake(struct range pages)
{
    if (!pages_wake(pages))
        refusal_end("wake who waits for a message", errno, "hang");
}

/* Where a mapping was to be split, since a neighbour stays held, and there was none left: again with some more. */
static bool pages_unregister(struct range pages)
{
    struct uffdio_range range = kernel_range(pages);
    bool is_done;
    do
        is_done = kernel_ioctl(userfault.descriptor, UFFDIO_UNREGISTER, &range) == 0;
    while (!is_done && errno == ENOMEM && reserve_spend());
    return is_done;
}

static bool pages_write_protect(struct range pages, bool is_closed)
{
    struct uffdio_writeprotect protection = {.range = kernel_range(pages),
                                             .mode = is_closed ? UFFDIO_WRITEPROTECT_MODE_WP : 0};
    return kernel_ioctl(userfault.descriptor, UFFDIO_WRITEPROTECT, &protection) == 0;
}

/* The protection goes with the registration: a mark that an older kernel leaves in a page table entry means nothing
 * without it. Pages that stay registered without it are open, too. Where a filter refuses all of this, no page has been
 * closed, or somebody has set it meanwhile: a thread that still waits is not let go. */
static void userfault_write_open(struct range pages)
{
    if (!pages_unregister(pages) && !pages_write_protect(pages, false))
        refusal_end_open(pages, errno);
    pages_wake(pages);
}

/* EAGAIN: as in userfault_page_place(). EEXIST: the page is there. */
static void page_zero(uintptr_t page)
{
    struct uffdio_zeropage zero;
    do
        zero = (struct uffdio_zeropage){.range = kernel_range((struct range){page, page + base_page_bytes()})};
    while (kernel_ioctl(userfault.descriptor, UFFDIO_ZEROPAGE, &zero) != 0 && errno == EAGAIN);
}

/* Pages that stay registered are open once they are there: nobody would answer a touch of one that is not. (Touching
 * them here would wait for that answer.) */
static void userfault_access_open(struct range pages)
{
    if (!pages_unregister(pages)) {
        for (uintptr_t page = pages.low; page < pages.high; page += base_page_bytes())
            page_zero(page);
        if (!pages_write_protect(pages, false))
            refusal_end_open(pages, errno);
    }
    pages_wake(pages);
}

static bool userfault_transit_settle(struct range transit_pages)
{
    (void)transit_pages;
    return true;
}

static void pages_read(struct range pages)
{
    for (uintptr_t page = pages.low; page < pages.high; page += base_page_bytes())
        (void)*(volatile const char *)page;
}

/* Without WP_UNPOPULATED a page that is not there cannot carry the protection. False: there are guard pages in a gap,
 * which end who reads them, and which no kernel has that does not know the advice. */
static bool pages_make_present(struct range pages)
{
    if (syscall(SYS_madvise, pages.low, pages.high - pages.low, (long)USERFAULT_POPULATE_READ) == 0)
        return true;
    if (errno != EINVAL)
        return false;
    pages_read(pages);
    return true;
}

static bool userfault_write_close(struct range pages)
{
    if (!(userfault.features & USERFAULT_WP_UNPOPULATED) && !pages_make_present(pages))
        return false;
    return pages_register(pages, UFFDIO_REGISTER_MODE_WP) && pages_write_protect(pages, true);
}

static int userfault_event_descriptor(void)
{
    return userfault.descriptor;
}

/* EAGAIN: somebody else's change of the mappings was under way. */
static size_t userfault_page_place(struct range pages, uintptr_t from)
{
    size_t done_bytes = 0;
    struct uffdio_copy copy;
    do {
        copy = (struct uffdio_copy){
            .dst = pages.low + done_bytes, .src = from + done_bytes, .len = pages.high - pages.low - done_bytes};
        bool is_refused = kernel_ioctl(userfault.descriptor, UFFDIO_COPY, &copy) != 0 && errno != EAGAIN;
        done_bytes += copy.copy > 0 ? (size_t)copy.copy : 0;
        if (is_refused)
            break;
    } while (done_bytes < pages.high - pages.low);
    return done_bytes;
}

static void userfault_page_close(struct range pages)
{
    while (!pages_write_protect(pages, true) && errno == EAGAIN)
        continue; /* as above; no other error can come of pages that are registered for it */
}

static void userfault_events_read(void (*touched)(uintptr_t address))
{
    struct uffd_msg messages[USERFAULT_MESSAGES_MAX];
    ssize_t read_bytes;
    do {
        read_bytes = kernel_read(userfault.descriptor, messages, sizeof(messages));
        for (ssize_t i = 0; i < read_bytes / (ssize_t)sizeof(messages[0]); i++)
            if (messages[i].event == UFFD_EVENT_PAGEFAULT)
                touched(messages[i].arg.pagefault.address);
    } while (read_bytes == (ssize_t)sizeof(messages));
}

const struct backend backend_userfault = {
    .name = "userfaultfd",
    .system_calls_fail = false,
    .start = full_start,
    .stop = userfault_stop,
    .access_close = userfault_access_close,
    .access_open = userfault_access_open,
    .copying_close = userfault_copying_close,
    .page_place = userfault_page_place,
    .page_close = userfault_page_close,
    .transit_settle = userfault_transit_settle,
    .write_close = userfault_write_close,
    .write_open = userfault_write_open,
    .wake = userfault_wake,
    .event_descriptor = userfault_event_descriptor,
    .events_read = userfault_events_read,
};

const struct backend backend_userfault_user = {
    .name = "userfaultfd-user",
    .system_calls_fail = true,
    .start = user_start,
    .stop = userfault_stop,
    .access_close = userfault_access_close,
    .access_open = userfault_access_open,
    .copying_close = userfault_copying_close,
    .page_place = userfault_page_place,
    .page_close = userfault_page_close,
    .transit_settle = userfault_transit_settle,
    .write_close = userfault_write_close,
    .write_open = userfault_write_open,
    .wake = userfault_wake,
    .event_descriptor = userfault_event_descriptor,
    .events_read = userfault_events_read,
};
