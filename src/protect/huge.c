/* SPDX-License-Identifier: MIT */
#include "protect/huge.h"

#include <string.h>

#include "base/clock.h"
#include "base/options.h"
#include "base/pages.h"
#include "protect/kernel.h"

enum { HUGE_BYTES = 2 << 20, BUFFERS_MAX = 64, SENDS_BEFORE = 3, SENDS_BETWEEN = 1024 };
enum { BUDGET_NS = 1000000, DEAR_NS = 10000000, FAILURES_MAX = 3 };
enum { ADVICE_COLLAPSE = 25 }; /* MADV_COLLAPSE, Linux 6.1; newer than Debian 12's headers */

/* One buffer that was sent: how often, and up to where it was made huge, but for what the program has not filled. The
 * kernel may refuse for the moment (a page is being looked at): it is asked again. */
struct buffer {
    struct range pages;
    uintptr_t done_until;
    uint32_t sends;
    uint32_t failures;
};

/* All under the lock of the table of holds. */
static struct {
    struct buffer buffers[BUFFERS_MAX];
    bool is_given_up;
} huge;

static struct buffer *buffer_of(struct range pages)
{
    struct buffer *buffer = &huge.buffers[(pages.low / base_page_bytes() + pages.low / HUGE_BYTES) % BUFFERS_MAX];
    if (buffer->pages.low != pages.low || buffer->pages.high != pages.high)
        *buffer = (struct buffer){.pages = pages, .done_until = pages.low};
    return buffer;
}

static uintptr_t huge_round_up(uintptr_t address)
{
    return (address + HUGE_BYTES - 1) & ~(uintptr_t)(HUGE_BYTES - 1);
}

/* What the kernel says of a page (admin-guide/mm/pagemap.rst): it has memory of its own, here or swapped out. One that
 * was only read has none, nor has one that nobody has used. */
static bool page_exists(uint64_t entry)
{
    return (entry & (UINT64_C(1) << 56 | UINT64_C(1) << 62)) != 0;
}

enum { ENTRIES_AT_ONCE = 32 }; /* 32 pages of 64 KiB are 2 MiB */

static bool pages_exist(int pagemap, uintptr_t low)
{
    uint64_t entries[ENTRIES_AT_ONCE];
    size_t place = low / base_page_bytes() * sizeof *entries;
    bool do_exist = kernel_pread(pagemap, entries, sizeof entries, place) == sizeof entries;
    for (int i = 0; i < ENTRIES_AT_ONCE; i++)
        do_exist = do_exist && page_exists(entries[i]);
    return do_exist;
}

/* The kernel makes a whole huge page of what has one page: the program would have more memory than it has used. */
static bool is_whole(uintptr_t low)
{
    int pagemap = kernel_open("/proc/self/pagemap", O_RDONLY);
    bool is_whole = pagemap >= 0;
    for (uintptr_t page = low; is_whole && page < low + HUGE_BYTES; page += ENTRIES_AT_ONCE * base_page_bytes())
        is_whole = pages_exist(pagemap, page);
    if (pagemap >= 0)
        kernel_close(pagemap);
    return is_whole;
}

/* False: there is no further whole huge page, or the kernel refuses. The copy
 * keeps every byte; other threads wait in the kernel for it (madvise(2)). */
static bool buffer_advance(struct buffer *buffer)
{
    uintptr_t low = huge_round_up(buffer->done_until);
    if (low + HUGE_BYTES > buffer->pages.high || buffer->failures >= FAILURES_MAX)
        return false;
    if (is_whole(low) && syscall(SYS_madvise, low, HUGE_BYTES, ADVICE_COLLAPSE) != 0) {
        buffer->failures++;
        return false;
    }
    buffer->done_until = low + HUGE_BYTES;
    return true;
}

/* A kernel that must move other memory out of the way first takes long: then
 * small pages are the better choice for the rest of the run. */
static void buffer_make_huge(struct buffer *buffer)
{
    int64_t begin_ns = base_clock_thread_cpu_ns();
    int64_t step_ns = begin_ns;
    while (step_ns - begin_ns < BUDGET_NS && buffer_advance(buffer)) {
        int64_t now_ns = base_clock_thread_cpu_ns();
        huge.is_given_up |= now_ns - step_ns > DEAR_NS;
        step_ns = now_ns;
    }
}

void huge_note_send(struct range pages)
{
    if (!options.huge_pages || huge.is_given_up || pages.high - pages.low < HUGE_BYTES)
        return;
    struct buffer *buffer = buffer_of(pages);
    buffer->sends++;
    /* The memory may have been given back and come anew: look again now and then. */
    if (buffer->sends % SENDS_BETWEEN == 0)
        *buffer = (struct buffer){.pages = pages, .done_until = pages.low, .sends = SENDS_BEFORE};
    if (buffer->sends > SENDS_BEFORE)
        buffer_make_huge(buffer);
}

void huge_forget(void)
{
    memset(&huge, 0, sizeof huge);
}
