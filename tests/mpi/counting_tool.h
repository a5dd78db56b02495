/* SPDX-License-Identifier: MIT */
/* A plugin that counts the calls of the functions that it defines, and the program that asks it. Needs _GNU_SOURCE. */
#ifndef COUNTING_TOOL_H
#define COUNTING_TOOL_H

#include <dlfcn.h>

#include "check.h"
#include "preload_plugin.h"

#ifdef PLUGIN
int counting_tool_count;

/* Counts a call of this name; returns what comes next by it. */
static void *counting_tool_next(const char *name)
{
    counting_tool_count++;
    return dlsym(RTLD_NEXT, name);
}
#else
/* Starts MPI with the plugin; returns where it counts. */
static const int *counting_tool_start(int argc, char **argv)
{
    preload_plugin(argv);
    check_start(&argc, &argv);
    const int *count = dlsym(RTLD_DEFAULT, "counting_tool_count");
    check(count != NULL, "the tool is there");
    return count;
}
#endif

#endif
