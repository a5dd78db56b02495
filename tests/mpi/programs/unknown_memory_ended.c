/* SPDX-License-Identifier: MIT */
/* Claim: when a window is freed, memory is detached from one, or a split collective of a file ends, receives return
 * early again.
 * arguments: window dynamic file
 * defers: receive
 * variants: userfaultfd signal-1 */
#include "check.h"

static MPI_Win window_new(const char *kind, unsigned char *memory)
{
    MPI_Win window;
    if (strcmp(kind, "window") == 0) {
        MPI_Win_create(memory, CHECK_LARGE_BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        return window;
    }
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, memory, CHECK_LARGE_BYTES);
    MPI_Win_detach(window, memory);
    return window;
}

static void file_write(unsigned char *memory)
{
    MPI_File file;
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    MPI_File_open(MPI_COMM_SELF, check_rank() ? "unknown_1.tmp" : "unknown_0.tmp", mode, MPI_INFO_NULL, &file);
    MPI_File_write_all_begin(file, memory, CHECK_LARGE_BYTES, MPI_BYTE);
    MPI_File_write_all_end(file, memory, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *memory = check_buffer_new(CHECK_LARGE_BYTES);
    memset(memory, 1, CHECK_LARGE_BYTES);
    if (strcmp(argv[1], "file") == 0) {
        file_write(memory);
    } else {
        MPI_Win window = window_new(argv[1], memory);
        MPI_Win_free(&window);
    }
    if (check_rank() == 0) {
        check_recv(memory, CHECK_LARGE_BYTES, 1, 0);
        check(check_is_filled(memory, CHECK_LARGE_BYTES, 7), "the message");
    } else {
        check_send_late(memory, CHECK_LARGE_BYTES, 7, 0, 0);
    }
    return check_end();
}
