/* SPDX-License-Identifier: MIT */
/* What the assembly entries call before they jump on, with the arguments of the
 * entry. Each returns the address to jump to. */
#ifndef LIBC_JUMP_H
#define LIBC_JUMP_H

void *libc_jump_before_dlsym(void *handle, const char *name, void *unused, void *caller);
void *libc_jump_before_dlopen(const char *path, int flags, void *unused, void *caller);
void *libc_jump_before_vfork(void);
void *libc_jump_before_clone(void *start, void *stack, int flags);

#endif
