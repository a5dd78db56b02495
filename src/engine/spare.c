/* SPDX-License-Identifier: MIT */
#include "engine/spare.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cores.h"
#include "base/folder.h"

enum { PATH_BYTES = 512, STATUS_BYTES = 4096 };

struct search {
    struct engine_spare_folders folders;
    const char *rank_variable;
    const char *process; /* being looked at */
    cpu_set_t used;
    long ranks;         /* that were seen */
    bool is_incomplete; /* what one of them uses could not be read */
};

static void folder_visit(struct search *search, const char *path, base_folder_visit_fn *visit)
{
    int folder = base_folder_open(path);
    if (folder < 0)
        return;
    (void)base_folder_visit_numbers(folder, visit, search);
    syscall(SYS_close, folder);
}

/* How much of NAME= an entry of the environment has matched: -1 when it is another. */
static int match_next(int matched, char read, const char *name)
{
    int length = (int)strlen(name);
    char wanted = matched < length ? name[matched < 0 ? 0 : matched] : '=';
    if (read == '\0')
        return 0;
    return matched >= 0 && read == wanted ? matched + 1 : -1;
}

static bool environment_has(int file, const char *name)
{
    char piece[4096];
    long length_bytes;
    int matched = 0;
    while ((length_bytes = syscall(SYS_read, file, piece, sizeof piece)) > 0) {
        for (long i = 0; i < length_bytes; i++) {
            matched = match_next(matched, piece[i], name);
            if (matched > (int)strlen(name))
                return true;
        }
    }
    return false;
}

static bool is_rank(const struct search *search, const char *process)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s/environ", search->folders.processes, process);
    /* By a system call: libc's functions are the program's, and wait for messages. */
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    bool is_found = file >= 0 && environment_has(file, search->rank_variable);
    if (file >= 0)
        syscall(SYS_close, file);
    return is_found;
}

/* The value of a line of /proc/.../status; NULL: there is none. */
static const char *status_value(const char *status, const char *name)
{
    const char *line = strstr(status, name);
    return line == NULL ? NULL : line + strlen(name);
}

/* False: there is none, or not all of it (hundreds of supplementary groups stand before it). */
static bool mask_add(cpu_set_t *used, const char *status)
{
    char list[STATUS_BYTES];
    cpu_set_t mask;
    const char *value = status_value(status, "\nCpus_allowed_list:\t");
    size_t length = value == NULL ? 0 : strcspn(value, "\n");
    if (value == NULL || value[length] == '\0')
        return false;
    snprintf(list, sizeof list, "%.*s", (int)length, value);
    bool is_read = base_cores_parse(list, &mask);
    CPU_OR(used, used, &mask);
    return is_read;
}

/* Engines stand on what others leave: theirs is not used up by them. */
static bool is_engine(const char *status)
{
    const char *name = status_value(status, "Name:\t");
    size_t length = strlen(ENGINE_SPARE_THREAD);
    return name != NULL && strncmp(name, ENGINE_SPARE_THREAD, length) == 0 && name[length] == '\n';
}

static void thread_visit(const char *thread, void *context)
{
    struct search *search = context;
    char path[PATH_BYTES];
    char status[STATUS_BYTES];
    snprintf(path, sizeof path, "%s/%s/task/%s/status", search->folders.processes, search->process, thread);
    base_folder_read(AT_FDCWD, path, status, sizeof status);
    bool has_ended = status[0] == '\0';
    if (!has_ended && !is_engine(status) && !mask_add(&search->used, status))
        search->is_incomplete = true;
}

static void process_visit(const char *process, void *context)
{
    struct search *search = context;
    char path[PATH_BYTES];
    if (!is_rank(search, process))
        return;
    search->process = process;
    search->ranks++;
    snprintf(path, sizeof path, "%s/%s/task", search->folders.processes, process);
    folder_visit(search, path, thread_visit);
}

static void list_read(const char *path, cpu_set_t *cores)
{
    char list[STATUS_BYTES];
    base_folder_read(AT_FDCWD, path, list, sizeof list);
    base_cores_parse(list, cores);
}

/* Does no rank use the core of this hardware thread, or this process alone? */
static void processor_judge(int processor, const cpu_set_t *siblings, const cpu_set_t *used, const cpu_set_t *own,
                            struct engine_spare *spare)
{
    cpu_set_t used_there;
    cpu_set_t own_there;
    CPU_AND(&used_there, siblings, used);
    CPU_AND(&own_there, siblings, own);
    if (CPU_COUNT(&used_there) == 0)
        CPU_SET(processor, &spare->idle);
    else if (!CPU_ISSET(processor, used) && CPU_EQUAL(&used_there, &own_there))
        CPU_SET(processor, &spare->beside);
}

static void processor_add(const struct search *search, int processor, const cpu_set_t *own, struct engine_spare *spare)
{
    char path[PATH_BYTES];
    cpu_set_t siblings;
    snprintf(path, sizeof path, "%s/cpu%d/topology/thread_siblings_list", search->folders.processors, processor);
    list_read(path, &siblings);
    CPU_SET(processor, &siblings); /* nobody says: it is alone */
    processor_judge(processor, &siblings, &search->used, own, spare);
}

struct engine_spare engine_spare_find(struct engine_spare_folders folders, const char *rank_variable, long ranks,
                                      const cpu_set_t *own)
{
    struct search search = {.folders = folders, .rank_variable = rank_variable, .used = *own};
    struct engine_spare spare;
    char path[PATH_BYTES];
    cpu_set_t online;
    CPU_ZERO(&spare.idle);
    CPU_ZERO(&spare.beside);
    folder_visit(&search, folders.processes, process_visit);
    spare.is_known = ranks >= 1 && search.ranks >= ranks && !search.is_incomplete;
    snprintf(path, sizeof path, "%s/online", folders.processors);
    list_read(path, &online);
    for (int processor = 0; processor < CPU_SETSIZE; processor++) {
        if (CPU_ISSET(processor, &online))
            processor_add(&search, processor, own, &spare);
    }
    return spare;
}
