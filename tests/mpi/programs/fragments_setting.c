/* SPDX-License-Identifier: MIT */
/* Claim: Open MPI's messages over TCP travel in fragments, the size that the user has set is kept, and the program sees
 * the environment that it was given.
 * arguments: ours users
 * quick: openmpi4 openmpi5 userfaultfd
 * defers: nothing */
#include <dlfcn.h>
#include <string.h>

#include "check.h"

#define VARIABLE "OMPI_MCA_btl_tcp_rdma_pipeline_frag_size"
#define CONTROL "btl_tcp_rdma_pipeline_frag_size"
#define USERS_BYTES "1048576"

enum { SMALL_BYTES = 64 << 10, LARGE_BYTES = 128 << 10 };

/* 0: this MPI has no such setting. */
static unsigned long fragment_bytes(void)
{
    MPI_T_cvar_handle handle;
    unsigned long bytes = 0;
    int level;
    int index;
    int count;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    if (MPI_T_cvar_get_index(CONTROL, &index) == MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS) {
        MPI_T_cvar_read(handle, &bytes);
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
    return bytes;
}

/* A profile is of what MPI does by itself. */
static bool has_engine(void)
{
    return dlsym(RTLD_DEFAULT, "lapwing_progress_now") != NULL && getenv("LAPWING_PROFILE") == NULL;
}

int main(int argc, char **argv)
{
    bool is_users = argc > 1 && strcmp(argv[1], "users") == 0;
    if (is_users)
        setenv(VARIABLE, USERS_BYTES, 1);
    check_start(&argc, &argv);
    const char *value = getenv(VARIABLE);
    check(is_users ? value != NULL && strcmp(value, USERS_BYTES) == 0 : value == NULL, "the environment");
    unsigned long bytes = fragment_bytes();
    if (is_users)
        check(bytes == 0 || bytes == strtoul(USERS_BYTES, NULL, 10), "the user's size");
    else if (has_engine())
        check(bytes == 0 || bytes == SMALL_BYTES || bytes == LARGE_BYTES, "the size of fragments");
    return check_end();
}
