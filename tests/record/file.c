/* SPDX-License-Identifier: MIT */
/* Claim: a record is written whole or not at all, whatever its names and its folder. */
#include <dirent.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/claim.h"
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
    record_is_shared = true;
    for (int i = 0; i < THREADS; i++)
        claim(pthread_create(&threads[i], NULL, thread_run, NULL) == 0, "a thread");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    claim(record_counters[RECORD_TOUCHES] == THREADS * ROUNDS, "no count is lost");
    claim(record_pass_bytes[REASON_SMALL] == 10 * THREADS * ROUNDS, "nor a pass");
}

static int files_in(const char *folder)
{
    int count = 0;
    DIR *list = opendir(folder);
    claim(list != NULL, "the folder");
    for (struct dirent *entry; (entry = readdir(list)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(list);
    return count;
}

static void file_remove(const char *folder, const char *name)
{
    char path[8192];
    claim(snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path, "the path is short");
    claim(unlink(path) == 0, "the file has its name");
}

int main(void)
{
    char folder[] = "/tmp/lapwing-record-XXXXXX";
    char far_away[6000];
    struct record_header identity = {.rank = 1, .size = 2, .pid = 7};
    claim(mkdtemp(folder) != NULL, "a folder");
    counters_check();
    memset(identity.host, 'h', sizeof identity.host); /* without its final zero */
    memset(far_away, 'x', sizeof far_away - 1);
    far_away[sizeof far_away - 1] = '\0';
    claim(record_write(folder, &identity), "a host name that is too long is cut");
    claim(!record_write(far_away, &identity), "a path that is too long is refused");
    claim(!record_write("/nowhere/at/all", &identity), "so is a folder that is not there");
    claim(files_in(folder) == 1, "one file, and no other");
    memset(far_away, 'h', 63);
    strcpy(far_away + 63, "-7.rank");
    file_remove(folder, far_away);
    claim(rmdir(folder) == 0, "nothing else is left");
    return 0;
}
