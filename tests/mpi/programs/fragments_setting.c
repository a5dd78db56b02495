/* SPDX-License-Identifier: MIT */
/* Claim: Open MPI's messages over TCP travel in fragments, what the user has set is kept, and the program sees the
 * environment that it was given.
 * arguments: ours users users_depth
 * quick: openmpi4 openmpi5 userfaultfd
 * defers: nothing */
#include <dlfcn.h>
#include <string.h>

#include "check.h"

#define SIZE "btl_tcp_rdma_pipeline_frag_size"
#define DEPTH "pml_ob1_recv_pipeline_depth"
#define VARIABLE(name) "OMPI_MCA_" name

enum { SMALL_BYTES = 64 << 10, LARGE_BYTES = 128 << 10, USERS_BYTES = 1 << 20, OUR_DEPTH = 3, USERS_DEPTH = 7 };

/* What Open MPI has for a setting; 0: this MPI has none of that name. One of 4 bytes leaves the others as they are. */
static unsigned long setting(const char *name)
{
    MPI_T_cvar_handle handle;
    unsigned long value = 0;
    int level;
    int index;
    int count;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    if (MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS) {
        MPI_T_cvar_read(handle, &value);
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
    return value;
}

static void check_setting(const char *name, unsigned long wanted)
{
    unsigned long value = setting(name);
    check(value == 0 || value == wanted, name);
}

/* A profile is of what MPI does by itself. */
static bool has_engine(void)
{
    return dlsym(RTLD_DEFAULT, "lapwing_progress_now") != NULL && getenv("LAPWING_PROFILE") == NULL;
}

static void check_ours(void)
{
    unsigned long bytes = setting(SIZE);
    check(bytes == 0 || bytes == SMALL_BYTES || bytes == LARGE_BYTES, "the size of fragments");
    check_setting(DEPTH, OUR_DEPTH);
}

int main(int argc, char **argv)
{
    bool is_size = argc > 1 && strcmp(argv[1], "users") == 0,
         is_depth = argc > 1 && strcmp(argv[1], "users_depth") == 0;
    if (is_size)
        setenv(VARIABLE(SIZE), "1048576", 1);
    if (is_depth)
        setenv(VARIABLE(DEPTH), "7", 1);
    check_start(&argc, &argv);
    check((getenv(VARIABLE(SIZE)) != NULL) == is_size && (getenv(VARIABLE(DEPTH)) != NULL) == is_depth, "environment");
    if (is_size)
        check_setting(SIZE, USERS_BYTES);
    else if (is_depth)
        check_setting(DEPTH, USERS_DEPTH);
    else if (has_engine())
        check_ours();
    return check_end();
}
