/* SPDX-License-Identifier: MIT */
/* Memory for Lapwing itself, apart from the program's heap: what is taken from there and given back changes what the
 * program gets next (M_MMAP_THRESHOLD in mallopt(3)). Never waits for ops, so locks may be held. Any thread. */
#ifndef LIBC_OWN_H
#define LIBC_OWN_H

#include <stddef.h>

/* Whole pages, zero; NULL: no memory. */
void *libc_own_take(size_t length_bytes);

/* By libc's function: a communication library that patches it (UCX) learns that registered memory goes. */
void libc_own_give_back(void *memory, size_t length_bytes);

#endif
