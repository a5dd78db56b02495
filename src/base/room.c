/* SPDX-License-Identifier: MIT */
#include "base/room.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/pages.h"

/* SIZE_MAX: none. */
static size_t limit_bytes(int resource)
{
    struct rlimit limit;
    bool is_limited = syscall(SYS_prlimit64, 0, resource, NULL, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return is_limited ? (size_t)limit.rlim_cur : SIZE_MAX;
}

/* Places in /proc/self/statm. The kernel compares the first with RLIMIT_AS (mm->total_vm), and the other, less the
 * stack, with RLIMIT_DATA (mm->data_vm). */
enum { USED_ADDRESSES = 0, USED_DATA = 5 };

/* A mapping made to try would take from other threads what they want at that moment. SIZE_MAX where the kernel does not
 * say. */
static size_t used_bytes(int place)
{
    char text[128];
    size_t pages = 0;
    base_folder_read(AT_FDCWD, "/proc/self/statm", text, sizeof text);
    const char *number = text;
    for (int passed = 0; passed < place && *number != 0; number++)
        passed += *number == ' ';
    for (; *number >= '0' && *number <= '9'; number++)
        pages = 10 * pages + (size_t)(*number - '0');
    return pages == 0 ? SIZE_MAX : pages * base_page_bytes();
}

static bool is_limited(int resource)
{
    int saved_errno = errno;
    bool is_finite = limit_bytes(resource) != SIZE_MAX;
    errno = saved_errno;
    return is_finite;
}

bool base_room_is_limited(void)
{
    return is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA);
}

bool base_room_is_limited_data(void)
{
    return is_limited(RLIMIT_DATA);
}

static size_t left_of(size_t all_bytes, size_t taken_bytes)
{
    return taken_bytes < all_bytes ? all_bytes - taken_bytes : 0;
}

/* SIZE_MAX where it is not limited. */
static size_t left_bytes(int resource, int place)
{
    size_t limit = limit_bytes(resource);
    return limit == SIZE_MAX ? SIZE_MAX : left_of(limit, used_bytes(place));
}

size_t base_room_left_bytes(void)
{
    int saved_errno = errno;
    size_t addresses = left_bytes(RLIMIT_AS, USED_ADDRESSES);
    size_t data = left_bytes(RLIMIT_DATA, USED_DATA);
    errno = saved_errno;
    return addresses < data ? addresses : data;
}

/* The stack grows besides. */
static bool addresses_remain(size_t taken_bytes, size_t spare_bytes)
{
    size_t left = left_bytes(RLIMIT_AS, USED_ADDRESSES);
    return left == SIZE_MAX || left_of(left_of(left, taken_bytes), spare_bytes) > limit_bytes(RLIMIT_STACK);
}

static bool data_remain(size_t taken_bytes, size_t spare_bytes)
{
    size_t left = left_bytes(RLIMIT_DATA, USED_DATA);
    return left == SIZE_MAX || left_of(left, taken_bytes) > spare_bytes;
}

bool base_room_remains(size_t taken_bytes, size_t spare_bytes)
{
    int saved_errno = errno;
    bool remains = addresses_remain(taken_bytes, spare_bytes) && data_remain(taken_bytes, spare_bytes);
    errno = saved_errno;
    return remains;
}
