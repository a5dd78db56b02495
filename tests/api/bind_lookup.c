/* SPDX-License-Identifier: MIT */
/* Claim: an interpreter that asks for MPI functions by name finds what it would find
 * without Lapwing. mpi4py does, to learn which MPI is there before it loads one. */
#include <dlfcn.h>
#include <stdio.h>

static int failures;

static void expect(const char *when, const char *name, int is_expected)
{
    void *scopes[] = {RTLD_DEFAULT, dlopen(NULL, RTLD_NOW)};
    for (int i = 0; i < 2; i++) {
        dlerror();
        int is_found = dlsym(scopes[i], name) != NULL;
        int is_error = dlerror() != NULL;
        if (is_found == is_expected && is_error != is_found)
            continue;
        printf("%s, scope %d: %s found %d, error %d\n", when, i, name, is_found, is_error);
        failures++;
    }
}

int main(int argc, char **argv)
{
    expect("before", "MPI_Wtime", 0);
    expect("before", "MPI_Abi_get_version", 0);
    if (argc != 2 || dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) == NULL)
        return 2;
    expect("after", "MPI_Wtime", 1);
    expect("after", "MPI_Abi_get_version", 0);
    double (*wtime)(void) = (double (*)(void))dlsym(RTLD_DEFAULT, "MPI_Wtime");
    return failures != 0 || wtime() != 42.5;
}
