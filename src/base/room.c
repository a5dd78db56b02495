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

/* What the kernel compares with the limit (mm->total_vm); a mapping made to try would take from other threads what they
 * want at that moment. SIZE_MAX where it does not say. */
static size_t used_bytes(void)
{
    char text[128];
    size_t pages = 0;
    base_folder_read(AT_FDCWD, "/proc/self/statm", text, sizeof text);
    for (const char *digit = text; *digit >= '0' && *digit <= '9'; digit++)
        pages = 10 * pages + (size_t)(*digit - '0');
    return pages == 0 ? SIZE_MAX : pages * base_page_bytes();
}

bool base_room_is_limited(void)
{
    int saved_errno = errno;
    bool is_limited = limit_bytes(RLIMIT_AS) != SIZE_MAX;
    errno = saved_errno;
    return is_limited;
}

static size_t left_of(size_t all_bytes, size_t taken_bytes)
{
    return taken_bytes < all_bytes ? all_bytes - taken_bytes : 0;
}

size_t base_room_left_bytes(void)
{
    int saved_errno = errno;
    size_t limit = limit_bytes(RLIMIT_AS);
    size_t left_bytes = limit == SIZE_MAX ? SIZE_MAX : left_of(limit, used_bytes());
    errno = saved_errno;
    return left_bytes;
}

bool base_room_remains(size_t taken_bytes, size_t spare_bytes)
{
    int saved_errno = errno;
    size_t left_bytes = base_room_left_bytes();
    bool remains =
        left_bytes == SIZE_MAX || left_of(left_of(left_bytes, taken_bytes), spare_bytes) > limit_bytes(RLIMIT_STACK);
    errno = saved_errno;
    return remains;
}
