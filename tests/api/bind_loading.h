/* SPDX-License-Identifier: MIT */
/* A library whose constructor has the dynamic linker's lock for a while (bind_constructor.c, PLUGIN), loaded by a
 * thread of its own. */
#ifndef BIND_LOADING_H
#define BIND_LOADING_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

volatile int is_constructing;
volatile int is_found;
const char *extra_path;

static void *loading_run(void *plugin_path)
{
    void *plugin = dlopen(plugin_path, RTLD_NOW);
    if (plugin == NULL)
        puts(dlerror());
    return plugin;
}

/* Returns when the constructor has begun. The thread returns the library, or NULL. */
static inline pthread_t loading_begin(char *plugin_path, const char *extra)
{
    pthread_t thread;
    extra_path = extra;
    pthread_create(&thread, NULL, loading_run, plugin_path);
    while (!is_constructing)
        usleep(1);
    return thread;
}

#endif
