/* SPDX-License-Identifier: MIT */
/* Claim: the records of a host's processes stand whole in one file, whatever their names and their folder; in folders
 * of the user's own, for this user's eyes, and never in a file that another may have put there. Where that file takes
 * no more, a record stands in a file of its own. */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/claim.h"
#include "base/text.h"
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

static bool is_private(int folder, const char *name)
{
    enum { RIGHTS = 0777, OWNER_ONLY = 0600 };
    struct stat status;
    return fstatat(folder, name, &status, 0) == 0 && (status.st_mode & RIGHTS) == OWNER_ONLY;
}

/* The only file in the folder, and nobody else's to read. */
static void file_find(char *path, size_t path_bytes, const char *folder)
{
    int count = 0;
    DIR *list = opendir(folder);
    claim(list != NULL, "the folder");
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        if (!base_text_ends(entry->d_name, ".ranks"))
            continue;
        claim(is_private(dirfd(list), entry->d_name), "a file for its user's eyes");
        snprintf(path, path_bytes, "%s/%s", folder, entry->d_name);
        count++;
    }
    closedir(list);
    claim(count == 1, "one file for all ranks of a host");
}

/* How many whole frames follow one another from the start. */
static int frames_count(const char *path)
{
    int count = 0;
    struct record_format_frame frame;
    struct record_format_header header;
    FILE *file = fopen(path, "r");
    claim(file != NULL, "the file");
    for (; fread(&frame, sizeof frame, 1, file) == 1; count++) {
        claim(memcmp(frame.magic, RECORD_FRAME_MAGIC, sizeof frame.magic) == 0, "a frame where one ends");
        claim(fread(&header, sizeof header, 1, file) == 1 && header.rank == 1, "a record in it");
        fseek(file, (long)(frame.length_bytes - sizeof header), SEEK_CUR);
    }
    fclose(file);
    return count;
}

static void appends_check(const char *folder, const struct record_format_header *identity)
{
    enum { PROCESSES = 8, RECORDS = 50 };
    char path[512];
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0) {
            for (int number = 0; number < RECORDS; number++)
                claim(record_write(folder, identity), "a record is appended");
            _exit(0);
        }
    for (int status; wait(&status) > 0;)
        claim(status == 0, "a process that appends ends well");
    file_find(path, sizeof path, folder);
    claim(frames_count(path) == PROCESSES * RECORDS, "records of several processes do not mix");
    claim(unlink(path) == 0, "the file can be removed");
}

static void limit_set(rlim_t limit_bytes)
{
    struct rlimit limit;
    claim(getrlimit(RLIMIT_FSIZE, &limit) == 0, "the limit of file sizes");
    limit.rlim_cur = limit_bytes;
    claim(setrlimit(RLIMIT_FSIZE, &limit) == 0, "another limit");
}

/* The record is in a file of the rank's own, while `shared` stays as it is. */
static void own_check(const char *folder, const char *shared, const struct record_format_header *identity,
                      const char *text)
{
    char hidden[600];
    char path[512];
    struct stat before;
    struct stat after;
    claim(lstat(shared, &before) == 0 && record_write(folder, identity), text);
    claim(lstat(shared, &after) == 0 && before.st_size == after.st_size, "nothing is written to the other file");
    snprintf(hidden, sizeof hidden, "%s.hidden", shared);
    claim(rename(shared, hidden) == 0, "it goes out of the way");
    file_find(path, sizeof path, folder);
    claim(frames_count(path) == 1, "the record is whole");
    claim(unlink(path) == 0 && rename(hidden, shared) == 0, "the other file comes back");
}

/* Files that others may have put there, or that would end the process. */
static void unfit_check(const char *folder, const struct record_format_header *identity)
{
    enum { LITTLE_BYTES = 16, ONE_RECORD_BYTES = 64 << 10 };
    char path[512];
    char other[600];
    claim(record_write(folder, identity), "a file is made");
    file_find(path, sizeof path, folder);
    snprintf(other, sizeof other, "%s.other", path);

    limit_set(ONE_RECORD_BYTES);
    own_check(folder, path, identity, "a limit of file sizes is kept");
    limit_set(LITTLE_BYTES);
    claim(!record_write(folder, identity), "where nothing fits nothing is written");
    limit_set(RLIM_INFINITY);
    claim(unlink(record.path) == 0, "an empty file of the rank's own");

    claim(link(path, other) == 0, "a second name");
    own_check(folder, path, identity, "no file that has a second name is written");
    claim(unlink(path) == 0 && symlink(other, path) == 0, "a link in its place");
    own_check(folder, path, identity, "no link is followed");
    claim(unlink(path) == 0 && unlink(other) == 0, "they can be removed");
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
    appends_check(folder, &identity);
    unfit_check(folder, &identity);
    claim(!record_write(far_away, &identity), "a path that is too long is refused");
    claim(!record_write("/nowhere/at/all", &identity), "so is a folder that is not there");
    claim(rmdir(folder) == 0, "nothing else is left");
    return 0;
}
