/* SPDX-License-Identifier: MIT */
/* Claim: a program at a fixed address wants a function that it both calls and takes the address of. */
#include "base/object.h"

#include <string.h>
#include <unistd.h>

#include "claim.h"

typedef pid_t identity_fn(void);

static bool is_taken_name(const char *name, void *context)
{
    (void)context;
    return strcmp(name, "getppid") == 0;
}

static size_t visits;

static void count_reference(const struct object *object, const struct object_reference *reference, void *context)
{
    (void)object;
    claim(*reference->place != 0, "the place of its address");
    visits++;
}

static int read_program(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    (void)size_bytes;
    (void)context;
    struct object object;
    claim(object_read(info, &object), "the program's names");
    claim(object_find_undefined(&object, is_taken_name, NULL), "its name is wanted");
    object_visit_references(&object, is_taken_name, count_reference, NULL);
    return 1; /* the program comes first */
}

int main(void)
{
    identity_fn *volatile taken = getppid; /* an address in the code, which no relocation of a variable can give */
    claim(getppid() == taken(), "the same function");
    dl_iterate_phdr(read_program, NULL);
    claim(visits != 0, "a reference");
    return 0;
}
