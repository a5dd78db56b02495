/* SPDX-License-Identifier: MIT */
/* Claim: an object that reaches MPI past the exported C functions is found. Links
 * bypass.c and object.c of src/bind; the binding itself is played here. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "bind/bind.h"
#include "base/libraries.h"
#include "base/object.h"
#include "bind/state.h"
#include "bind/fortran_bindings.h"

/* Which bindings call PMPI_X: as in MPICH, and as in Open MPI. */
enum { FORTRAN_2008 = false, ALL_FORTRAN = true };

static bool does_all_fortran_call_pmpi;
static bool is_fortran_seen;

bool bind_try(void)
{
    return true;
}

bool bind_all_fortran_calls_pmpi(void)
{
    return does_all_fortran_call_pmpi;
}

void bind_adjust_objects(void)
{
}

bool bind_unknown_lacks_entry(const char *name)
{
    return strcmp(name, "MPIX_Unheard_of") == 0;
}

const void *bind_entry(const char *name)
{
    return NULL;
}

const char *bind_tool_function(const struct object *object)
{
    return NULL;
}

bool bind_is_past_entry(const char *name, const void *function)
{
    return false;
}

bool fortran_bindings_are_seen(void)
{
    return is_fortran_seen;
}

/* Loads a plugin and compares what is said with `expected`, NULL for nothing. */
static int check(bool all_fortran, const char *folder, const char *plugin, const char *expected)
{
    char path[4096];
    does_all_fortran_call_pmpi = all_fortran;
    snprintf(path, sizeof(path), "%s/%s", folder, plugin);
    void *handle = dlopen(path, RTLD_LAZY);
    if (handle == NULL) {
        printf("%s\n", dlerror());
        return 1;
    }
    char text[96];
    const char *said = bind_bypass(text, sizeof(text)) ? text : NULL;
    bool is_right = expected == NULL ? said == NULL : said != NULL && strstr(said, expected) != NULL;
    if (!is_right)
        printf("%s: \"%s\" instead of \"%s\"\n", plugin, said == NULL ? "" : said, expected == NULL ? "" : expected);
    dlclose(handle);
    return !is_right;
}

static int find_caller(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    struct object object;
    return object_read(info, &object) && bind_bypass_has_calls(&object);
}

/* As what is loaded later is looked at. */
static int check_late(const char *folder, const char *plugin, bool expected)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, plugin);
    void *handle = dlopen(path, RTLD_LAZY);
    bool is_right = handle != NULL && dl_iterate_phdr(find_caller, NULL) == expected;
    if (!is_right)
        printf("%s: loaded later, it is not seen for what it is\n", plugin);
    dlclose(handle);
    return !is_right;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    int failures = check(FORTRAN_2008, argv[1], "libbypass_none.so", NULL);
    failures += check(FORTRAN_2008, argv[1], "libbypass_profiling.so", "PMPI");
    failures += check(FORTRAN_2008, argv[1], "libbypass_weak.so", "PMPI");
    failures += check(FORTRAN_2008, argv[1], "libbypass_extension.so", "PMPI");
    failures += check(FORTRAN_2008, argv[1], "libbypass_unknown.so", "MPIX_Unheard_of (libbypass_unknown.so)");
    failures += check(ALL_FORTRAN, argv[1], "libbypass_fortran.so", "Fortran");
    failures += check(FORTRAN_2008, argv[1], "libbypass_fortran.so", NULL);
    failures += check(FORTRAN_2008, argv[1], "libbypass_fortran_2008.so", "Fortran");
    failures += check(FORTRAN_2008, argv[1], "libmpi_fake.so", NULL);
    is_fortran_seen = true;
    failures += check(ALL_FORTRAN, argv[1], "libbypass_fortran.so", NULL);
    failures += check(FORTRAN_2008, argv[1], "libbypass_fortran_2008.so", NULL);
    failures += check(FORTRAN_2008, argv[1], "libbypass_profiling.so", "PMPI");
    failures += check_late(argv[1], "libbypass_none.so", false);
    failures += check_late(argv[1], "libbypass_profiling.so", true);
    failures += check_late(argv[1], "libbypass_unknown.so", true);
    failures += check_late(argv[1], "libmpi_fake.so", false);
    failures += !base_library_is_mpi("libmpi.so.40") + base_library_is_mpi("libm.so.6");
    return failures != 0;
}
