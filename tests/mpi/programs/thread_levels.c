/* SPDX-License-Identifier: MIT */
/* Claim: the program is told the thread level that it would be told without help.
 * arguments: init single funneled serialized multiple */
#include "check.h"

/* Levels have other numbers in other ABIs: names are compared. */
static const char *level_name(int level)
{
    if (level == MPI_THREAD_SINGLE)
        return "single";
    if (level == MPI_THREAD_FUNNELED)
        return "funneled";
    return level == MPI_THREAD_SERIALIZED ? "serialized" : level == MPI_THREAD_MULTIPLE ? "multiple" : "none";
}

static int level_start(const char *asked, int *argc, char ***argv)
{
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    int provided = -1;
    if (strcmp(asked, "init") == 0) {
        MPI_Init(argc, argv);
        return provided;
    }
    for (int i = 0; i < 4; i++) {
        if (strcmp(asked, level_name(levels[i])) == 0)
            MPI_Init_thread(argc, argv, levels[i], &provided);
    }
    return provided;
}

int main(int argc, char **argv)
{
    const char *asked = argc > 1 ? argv[1] : "init";
    int provided = level_start(asked, &argc, &argv), queried = -1, is_main = -1;
    MPI_Query_thread(&queried);
    MPI_Is_thread_main(&is_main);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    check_fill(buffer, CHECK_LARGE_BYTES, 0);
    if (check_rank() == 0)
        check_send(buffer, CHECK_LARGE_BYTES, 1, 0);
    if (check_rank() == 1)
        check_recv(buffer, CHECK_LARGE_BYTES, 0, 0);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 0), "the message");
    if (check_rank() == 0)
        printf("asked %s provided %s queried %s main %d\n", asked, level_name(provided), level_name(queried), is_main);
    return check_end();
}
