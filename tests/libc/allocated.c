/* SPDX-License-Identifier: MIT */
/* Claim: an allocator that the program has linked is given back only what it gave, by the loader's errors, too. */
#include <dlfcn.h>
#include <stdlib.h>

static void *volatile block;

int main(void)
{
    block = malloc(100);
    free(block);
    block = realloc(calloc(10, 10), 1000);
    free(block);
    if (dlsym(RTLD_DEFAULT, "no such function") != NULL || dlerror() == NULL)
        return 1;
    return dlsym(RTLD_DEFAULT, "no other") == NULL && dlerror() != NULL ? 0 : 1;
}
