/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/selection.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/launch.h"
#include "base/text.h"

/* NULL where it names nothing. */
static const char *list_of(const char *variable)
{
    const char *list = getenv(variable);
    return list == NULL || list[strspn(list, ", ")] == '\0' ? NULL : list;
}

static bool rank_is_left_out(void)
{
    const char *included = list_of("LAPWING_INCLUDE_RANKS");
    const char *excluded = list_of("LAPWING_EXCLUDE_RANKS");
    const char *rank = included == NULL && excluded == NULL ? NULL : base_launch_rank();
    if (rank == NULL)
        return false;
    bool is_in = included == NULL || base_launch_list_has(included, atol(rank));
    return !is_in || (excluded != NULL && base_launch_list_has(excluded, atol(rank)));
}

/* Of this process. file: the path of its executable, "" if the kernel does not tell. */
struct program {
    const char *name;
    char file[PATH_MAX];
};

static void program_find(struct program *program)
{
    int saved_errno = errno;
    long length = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", program->file, sizeof program->file - 1);
    program->file[length < 0 ? 0 : length] = '\0';
    program->name = program_invocation_short_name == NULL ? "" : program_invocation_short_name;
    errno = saved_errno;
}

static bool program_fits(const struct program *program, const char *pattern, size_t length)
{
    char copy[NAME_MAX + 1];
    if (length > NAME_MAX) /* which no name fits */
        return false;
    memcpy(copy, pattern, length);
    copy[length] = '\0';
    return fnmatch(copy, program->name, 0) == 0 || fnmatch(copy, base_text_file_name(program->file), 0) == 0;
}

static size_t without_blanks(const char *text, size_t length)
{
    while (length != 0 && text[length - 1] == ' ')
        length--;
    return length;
}

static bool program_is_listed(const struct program *program, const char *list)
{
    bool is_listed = false;
    while (!is_listed && *list != '\0') {
        list += strspn(list, ", ");
        size_t length = strcspn(list, ",");
        is_listed = length != 0 && program_fits(program, list, without_blanks(list, length));
        list += length;
    }
    return is_listed;
}

static bool program_is_left_out(void)
{
    const char *included = list_of("LAPWING_INCLUDE_PROGRAMS");
    const char *excluded = list_of("LAPWING_EXCLUDE_PROGRAMS");
    if (included == NULL && excluded == NULL)
        return false;
    struct program program;
    program_find(&program);
    bool is_in = included == NULL || program_is_listed(&program, included);
    return !is_in || (excluded != NULL && program_is_listed(&program, excluded));
}

bool base_selection_leaves_out(void)
{
    return rank_is_left_out() || program_is_left_out();
}
