/* SPDX-License-Identifier: MIT */
/* Claim: MPI_File_write writes what was just received. */
#include <unistd.h>

#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    char path[64] = "/tmp/file_write_XXXXXX";
    if (check_rank() == 1) {
        check_send_late(buffer, CHECK_LARGE_BYTES, 5, 0, 0);
        return check_end();
    }
    MPI_File file;
    close(mkstemp(path));
    check(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS, "opening a file");
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    MPI_File_write(file, buffer, CHECK_LARGE_BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    memset(buffer, 0, CHECK_LARGE_BYTES);
    MPI_File_read_at(file, 0, buffer, CHECK_LARGE_BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 5), "the file holds the message");
    MPI_File_close(&file);
    unlink(path);
    return check_end();
}
