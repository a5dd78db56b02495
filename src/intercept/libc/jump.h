/* SPDX-License-Identifier: MIT */
/* What the assembly entries call before they jump on. Each returns the address
 * of the real function. */
#ifndef LIBC_JUMP_H
#define LIBC_JUMP_H

void *libc_jump_before_dlsym(void);
void *libc_jump_before_vfork(void);

#endif
