/* SPDX-License-Identifier: MIT */
/* Claim: a record is written whole or not at all, whatever its names and its folder; in folders of the user's own, for
 * this user's eyes. */
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/claim.h"
#include "record/name.h"
#include "record/record.h"

enum { THREADS = 4, ROUNDS = 10000 };

static void *thread_run(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        record_pass(REASON_SMALL, 10);
        record_count(RECORD_TOUCHES, 1);
    }
    return unused;
}

static void counters_check(void)
{
    pthread_t threads[THREADS];
    record.is_shared = true;
    for (int i = 0; i < THREADS; i++)
        claim(pthread_create(&threads[i], NULL, thread_run, NULL) == 0, "a thread");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    claim(record.counters[RECORD_TOUCHES] == THREADS * ROUNDS, "no count is lost");
    claim(record.pass_bytes[REASON_SMALL] == 10 * THREADS * ROUNDS, "nor a pass");
}

static bool name_is_of_record(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".rank") == 0;
}

static bool is_private(int folder, const char *name)
{
    enum { RIGHTS = 0777, OWNER_ONLY = 0600 };
    struct stat status;
    return fstatat(folder, name, &status, 0) == 0 && (status.st_mode & RIGHTS) == OWNER_ONLY;
}

/* Removes them, too. */
static int records_in(const char *folder)
{
    int count = 0;
    DIR *list = opendir(folder);
    claim(list != NULL, "the folder");
    for (struct dirent *entry; (entry = readdir(list)) != NULL;)
        if (name_is_of_record(entry->d_name))
            count += is_private(dirfd(list), entry->d_name) && unlinkat(dirfd(list), entry->d_name, 0) == 0;
    closedir(list);
    return count;
}

/* "/" is root's; root gives its own away. */
static void folders_check(const char *folder)
{
    enum { OTHER_USER = 65534 };
    bool is_root = geteuid() == 0;
    setenv("LAPWING_RECORD_DIR", folder, 1);
    claim(record_name_folder() != NULL, "an own folder is taken");
    setenv("LAPWING_RECORD_DIR", is_root ? folder : "/", 1);
    claim(!is_root || chown(folder, OTHER_USER, OTHER_USER) == 0, "the folder is another's");
    claim(record_name_folder() == NULL, "another user's folder is not");
    claim(!is_root || chown(folder, 0, 0) == 0, "it is one's own again");
    unsetenv("LAPWING_RECORD_DIR");
    claim(record_name_folder() == NULL, "no folder is named");
}

int main(void)
{
    char folder[] = "/tmp/lapwing-record-XXXXXX";
    char far_away[6000];
    struct record_format_header identity = {.rank = 1, .size = 2, .pid = 7};
    claim(mkdtemp(folder) != NULL, "a folder");
    counters_check();
    folders_check(folder);
    memset(far_away, 'x', sizeof far_away - 1);
    far_away[sizeof far_away - 1] = '\0';
    claim(record_write(folder, &identity), "a record is written");
    claim(record_write(folder, &identity), "another of a process with the same host name, number and rank");
    claim(!record_write(far_away, &identity), "a path that is too long is refused");
    claim(!record_write("/nowhere/at/all", &identity), "so is a folder that is not there");
    claim(records_in(folder) == 2, "both are there");
    claim(rmdir(folder) == 0, "nothing else is left");
    return 0;
}
