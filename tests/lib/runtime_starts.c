/* SPDX-License-Identifier: MIT */
/* Claim: a runtime that is linked into the program, and whose own functions do not work before it has asked for libc's
 * (MemorySanitizer's dladdr), gets its answers although the preload's constructor is what first calls it. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

static char *(*real_getenv)(const char *name);
static int (*real_strcmp)(const char *one, const char *other);
static int (*real_dladdr)(const void *address, Dl_info *info);

static void runtime_start(void)
{
    *(void **)&real_strcmp = dlsym(RTLD_NEXT, "strcmp");
    *(void **)&real_dladdr = dlsym(RTLD_NEXT, "dladdr");
    *(void **)&real_getenv = dlsym(RTLD_NEXT, "getenv");
}

EXPORTED int strcmp(const char *one, const char *other)
{
    return real_strcmp(one, other);
}

EXPORTED int dladdr(const void *address, Dl_info *info)
{
    return real_dladdr(address, info);
}

EXPORTED char *getenv(const char *name)
{
    if (real_getenv == NULL)
        runtime_start();
    return real_getenv(name);
}

int main(void)
{
    Dl_info info;
    if (getenv("LD_PRELOAD") == NULL) {
        puts("not preloaded");
        return 1;
    }
    if (real_dladdr == dladdr || dladdr((void *)real_getenv, &info) == 0 || strstr(info.dli_fname, "libc") == NULL) {
        puts("the runtime got wrong answers");
        return 1;
    }
    return 0;
}
