/* SPDX-License-Identifier: MIT */
/* A library that stands before close(), as profilers do: it asks for the next one in its constructor. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

static int (*next)(int);

__attribute__((constructor)) static void begin(void)
{
    next = (int (*)(int))dlsym(RTLD_NEXT, "close");
}

__attribute__((visibility("default"))) int close(int descriptor)
{
    return next(descriptor);
}
