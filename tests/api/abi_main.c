/* SPDX-License-Identifier: MIT */
/* Claim: our description of the ABI says what the library's mpi.h says. */
#include <stdio.h>
#include <string.h>

#include "abi_values.h"

static int compare(const struct abi_value *ours, const struct abi_value *theirs)
{
    if (ours->value == theirs->value && strcmp(ours->name, theirs->name) == 0)
        return 0;
    printf("%s: %lld here, %lld in mpi.h\n", ours->name, ours->value, theirs->value);
    return 1;
}

int main(void)
{
    int differences = 0;
    int compared = 0;
    struct abi_value ours[ABI_HANDLE_COUNT];
    struct abi_value theirs[ABI_HANDLE_COUNT];
    for (; abi_ours[compared].name != NULL; compared++)
        differences += compare(&abi_ours[compared], &abi_theirs[compared]);
    abi_handles_ours(ours);
    abi_handles_theirs(theirs);
    for (int i = 0; i < ABI_HANDLE_COUNT; i++)
        differences += compare(&ours[i], &theirs[i]);
    printf("%d values compared\n", compared + ABI_HANDLE_COUNT);
    return differences != 0;
}
