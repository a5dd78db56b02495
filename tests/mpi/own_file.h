/* SPDX-License-Identifier: MIT */
/* A file of this rank's own, which goes when it is closed. */
#ifndef OWN_FILE_H
#define OWN_FILE_H

#include <unistd.h>

#include "check.h"

static MPI_File own_file_open(void)
{
    char path[] = "/tmp/lapwing-test-XXXXXX";
    MPI_File file;
    close(mkstemp(path));
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    return file;
}

#endif
