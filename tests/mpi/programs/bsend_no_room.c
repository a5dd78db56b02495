/* SPDX-License-Identifier: MIT */
/* Claim: a large MPI_Bsend that finds no room in the attached buffer is the error that it is with stock MPI, and starts
 * no engine.
 * passes: no_buffer
 * quick: openmpi4 mpich4 userfaultfd signal-1 */
#include <dirent.h>

#include "check.h"

enum { LENGTH = CHECK_LARGE_BYTES, ROOM = LENGTH / 2, NAME_BYTES = 512 };

static bool thread_is_engine(const char *thread)
{
    char path[NAME_BYTES], name[NAME_BYTES] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", thread);
    FILE *file = fopen(path, "r");
    bool is_read = file != NULL && fgets(name, sizeof name, file) != NULL;
    if (file != NULL)
        fclose(file);
    return is_read && strncmp(name, "lapwing", 7) == 0;
}

static bool has_engine(void)
{
    bool is_found = false;
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *thread; threads != NULL && (thread = readdir(threads)) != NULL;)
        is_found |= thread_is_engine(thread->d_name);
    if (threads != NULL)
        closedir(threads);
    return is_found;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int length;
    unsigned char *attached = check_buffer_new(ROOM), *buffer = check_buffer_new(LENGTH);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Buffer_attach(attached, ROOM);
    int result = MPI_Bsend(buffer, LENGTH, MPI_BYTE, 1 - check_rank(), 0, MPI_COMM_WORLD);
    check(check_class(result) == MPI_ERR_BUFFER, "there is no room");
    check(!has_engine(), "no engine");
    MPI_Buffer_detach(&attached, &length);
    return check_end();
}
