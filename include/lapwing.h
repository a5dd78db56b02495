/* SPDX-License-Identifier: MIT */
/* The one function of Lapwing that a program may call. Needs no library: without
 * Lapwing in the process it does nothing, and costs a comparison.
 *
 * MPI has a function for the rest: MPI_Pcontrol(0) pauses Lapwing, MPI_Pcontrol(1)
 * lets it go on, MPI_Pcontrol(2) waits for every message that is under way. */
#ifndef LAPWING_H
#define LAPWING_H

#include <dlfcn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Lets messages and other operations that are under way progress, and returns at
 * once. For `lapwing run --progress manual`, where nothing else does so while the
 * program computes; harmless otherwise. From a thread that may call MPI. */
static inline void lapwing_progress(void)
{
    static void (*progress)(void);
    static int is_looked_up;
    if (!is_looked_up) {
        /* ISO C has no cast from an object's address to a function's (dlsym(3)). */
        *(void **)&progress = dlsym((void *)0 /* RTLD_DEFAULT */, "lapwing_progress_now");
        is_looked_up = 1;
    }
    if (progress)
        progress();
}

#ifdef __cplusplus
}
#endif

#endif
