/* SPDX-License-Identifier: MIT */
/* Plays a Fortran binding: tells its callee where it is called from. */
typedef const void *ask_fn(void);

__attribute__((visibility("default"))) const void *mpi_send_(ask_fn *ask);
__attribute__((visibility("default"))) const void *mpi_send_(ask_fn *ask)
{
    const void *volatile answer = ask();
    return answer;
}

__attribute__((visibility("default"))) const void *mpi_recv_f08ts_(ask_fn *ask);
__attribute__((visibility("default"))) const void *mpi_recv_f08ts_(ask_fn *ask)
{
    const void *volatile answer = ask();
    return answer;
}
