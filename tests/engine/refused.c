/* SPDX-License-Identifier: MIT */
/* Claim: an engine that the system refuses a thread or a descriptor leaves nothing open, and is not tried again. */
#include <dirent.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/claim.h"
#include "engine/engine.h"

typedef void limit_fn(bool is_limited);

static int open_count(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

/* A stack that is larger than the address space. */
static void limit_threads(bool is_limited)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, is_limited ? (size_t)1 << 62 : (size_t)1 << 20);
    claim(pthread_setattr_default_np(&attributes) == 0, "the default stack");
}

static void limit_descriptors(bool is_limited, rlim_t free_count)
{
    struct rlimit limit;
    int lowest = dup(STDERR_FILENO);
    close(lowest);
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = is_limited ? (rlim_t)lowest + free_count : limit.rlim_max;
    claim(setrlimit(RLIMIT_NOFILE, &limit) == 0, "the limit");
}

static void limit_to_none(bool is_limited)
{
    limit_descriptors(is_limited, 0);
}

static void limit_to_one(bool is_limited)
{
    limit_descriptors(is_limited, 1);
}

static void run_child(limit_fn *limit)
{
    engine_configure(OPTION_PROGRESS_POLL, true, (struct engine_hooks){.touch_descriptor = -1});
    int before = open_count();
    limit(true);
    claim(!engine_start() && !engine_start(), "refused");
    limit(false);
    claim(open_count() == before, "nothing is left open");
    claim(!engine_start() && open_count() == before, "nobody asks again");
    _exit(0);
}

int main(void)
{
    limit_fn *const limits[] = {limit_threads, limit_to_none, limit_to_one};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        int status;
        pid_t child = fork();
        if (child == 0)
            run_child(limits[i]);
        claim(waitpid(child, &status, 0) == child && status == 0, "the child's claims");
    }
    return 0;
}
