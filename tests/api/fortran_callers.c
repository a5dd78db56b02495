/* SPDX-License-Identifier: MIT */
/* Claim: each place in the program that calls a Fortran binding is a site of its own,
 * though the entry below the binding always sees the binding as its caller. */
#include <stdio.h>
#include <string.h>

#include "bind/fortran_callers.h"
#include "op/call_site.h"

typedef const void *ask_fn(void);
const void *mpi_send_(ask_fn *ask);
const void *mpi_recv_f08ts_(ask_fn *ask);

/* The jumps of the C names want them; none is called here. */
void *bind_jump(size_t index);
void *bind_jump(size_t index)
{
    return NULL;
}

void *pcontrol_tell(size_t index, int level);
void *pcontrol_tell(size_t index, int level)
{
    return NULL;
}

void *extension_stop(size_t index, int first_argument);
void *extension_stop(size_t index, int first_argument)
{
    return NULL;
}

static const void *seen; /* by the entry, without the look-up */

/* Plays an entry. */
__attribute__((noinline)) static const void *ask(void)
{
    seen = __builtin_return_address(0);
    return call_site_of(seen);
}

/* noipa: else the compiler makes one function of these. */
__attribute__((noipa)) static const void *call_first(void)
{
    const void *volatile site = mpi_send_(ask);
    return site;
}

__attribute__((noipa)) static const void *call_second(void)
{
    const void *volatile site = mpi_send_(ask);
    return site;
}

__attribute__((noipa)) static const void *call_third(void)
{
    const void *volatile site = mpi_recv_f08ts_(ask);
    return site;
}

static int find_binding(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    struct object object;
    if (object_read(info, &object) && strncmp(object_file_name(&object), "libmpifort", 10) == 0)
        call_site_add_binding(object.loaded);
    return 0;
}

static int want_program(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    struct object object;
    if (object_read(info, &object))
        fortran_callers_want(&object);
    return 1; /* the program comes first */
}

static int find_program(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    struct object object;
    if (object_read(info, &object))
        fortran_callers_note(&object);
    return 1;
}

static int failures;

static void check(bool is_true, const char *claim)
{
    if (!is_true)
        printf("not so: %s\n", claim);
    failures += !is_true;
}

int main(void)
{
    const void *before = call_first();
    check(before == seen, "nothing is changed before the objects are looked at");
    dl_iterate_phdr(find_binding, NULL);
    dl_iterate_phdr(want_program, NULL);
    fortran_callers_prepare();
    dl_iterate_phdr(find_program, NULL);
    const void *first = call_first();
    const void *second = call_second();
    const void *third = call_third();
    check(first != seen && second != seen && third != seen, "a site is not the binding's");
    check(first != second && second != third, "two places are two sites");
    check(call_first() == first && call_second() == second, "a place is the same site each time");
    check(call_site_of(main) == (const void *)main, "a call from elsewhere keeps its address");
    return failures != 0;
}
