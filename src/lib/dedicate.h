/* SPDX-License-Identifier: MIT */
/* `--progress dedicated`: each rank gives up one of its cores. The program's
 * threads and its OpenMP runtime must find the others before they begin, and
 * runtimes look when they are loaded: so the process starts itself anew
 * (execve(2)), with the smaller mask and the variables that say so. */
#ifndef LIB_DEDICATE_H
#define LIB_DEDICATE_H

/* In the constructor, options read. Returns in the process that is to go on. */
void lib_dedicate_core(void);

#endif
