/* SPDX-License-Identifier: MIT */
/* Memory for what dlsym allocates while libc's own malloc is being looked up: the texts of errors, for names
 * that libc lacks. Not from any allocator, since the program's may not be known yet, and may call entries
 * of ours that have nothing behind them. One thread: the process has no other before its first malloc. */
#ifndef LIBC_LOOKUP_MEMORY_H
#define LIBC_LOOKUP_MEMORY_H

#include <stddef.h>

/* As malloc(3) and its kin; null when 64 KiB are used up. What is freed is not used again. */
void *libc_lookup_malloc(size_t length_bytes);
void *libc_lookup_calloc(size_t count, size_t size_bytes);
void *libc_lookup_realloc(void *block, size_t length_bytes);
void libc_lookup_free(void *block);

#endif
