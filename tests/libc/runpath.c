/* SPDX-License-Identifier: MIT */
/* Claim: dlopen still looks along the RUNPATH of the program that calls it. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *plugin = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (!plugin)
        return fprintf(stderr, "%s\n", dlerror()), 1;
    int (*answer)(void) = (int (*)(void))dlsym(plugin, "plugin_answer");
    return answer && answer() == 42 ? 0 : 1;
}
