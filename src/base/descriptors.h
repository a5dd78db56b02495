/* SPDX-License-Identifier: MIT */
/* File descriptors of Lapwing's own. They stand high, so that the program's
 * open() gives the numbers that it gives without Lapwing, and libc's entries keep
 * the program from closing them (a daemon's "close all", closefrom): holds would
 * fall open. */
#ifndef BASE_DESCRIPTORS_H
#define BASE_DESCRIPTORS_H

#include <stdbool.h>

/* Lets the kernel's table of this process's descriptors grow, up to where own ones stand. It takes microseconds while
 * there is one thread, and some 10 ms once there are more: expand_fdtable() (Linux, fs/file.c) then waits for all
 * processors (synchronize_rcu). So it is called before MPI starts threads. */
void base_descriptor_make_room(void);

/* Moves a fresh descriptor up and remembers it; returns its new number. A
 * negative one is returned as it is; one that cannot be moved stays. */
int base_descriptor_own(int descriptor);

/* Closes one of them. */
void base_descriptor_close(int descriptor);

/* Any thread. */
bool base_descriptor_is_own(int descriptor);

/* The lowest one in [first, last], or -1. Any thread. */
int base_descriptor_own_from(unsigned first, unsigned last);

#endif
