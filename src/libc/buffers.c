/* SPDX-License-Identifier: MIT */
/* Entries that give memory of the program to the kernel or to libc for later. */
#include <pthread.h>
#include <signal.h>

#include "libc/keep.h"
#include "libc/real.h"
#include "libc/use.h"

static void buffer_give(uintptr_t owner, const void *buffer, size_t length_bytes)
{
    if (protect_armed_is_any())
        libc_use_writes(buffer, length_bytes);
    libc_keep_set(owner, base_range_of(buffer, buffer == NULL ? 0 : length_bytes));
}

/* A page of an alternate stack that were held would end the process at the next
 * signal: the kernel could not write its frame. */
int libc_entry_sigaltstack(const stack_t *stack, stack_t *old_stack) LIBC_ENTRY(sigaltstack);
int libc_entry_sigaltstack(const stack_t *stack, stack_t *old_stack)
{
    if (protect_armed_is_any()) {
        libc_use_reads(stack, sizeof *stack);
        libc_use_writes(old_stack, sizeof *old_stack);
    }
    if (stack != NULL)
        buffer_give((uintptr_t)pthread_self(), stack->ss_flags & SS_DISABLE ? NULL : stack->ss_sp, stack->ss_size);
    return LIBC_REAL(sigaltstack)(stack, old_stack);
}

int libc_entry_setvbuf(FILE *stream, char *buffer, int mode, size_t length_bytes) LIBC_ENTRY(setvbuf);
int libc_entry_setvbuf(FILE *stream, char *buffer, int mode, size_t length_bytes)
{
    if (mode != _IONBF && buffer != NULL)
        buffer_give((uintptr_t)stream, buffer, length_bytes);
    return LIBC_REAL(setvbuf)(stream, buffer, mode, length_bytes);
}

void libc_entry_setbuf(FILE *stream, char *buffer) LIBC_ENTRY(setbuf);
void libc_entry_setbuf(FILE *stream, char *buffer)
{
    if (buffer != NULL)
        buffer_give((uintptr_t)stream, buffer, BUFSIZ);
    LIBC_REAL(setbuf)(stream, buffer);
}

void libc_entry_setbuffer(FILE *stream, char *buffer, size_t length_bytes) LIBC_ENTRY(setbuffer);
void libc_entry_setbuffer(FILE *stream, char *buffer, size_t length_bytes)
{
    if (buffer != NULL)
        buffer_give((uintptr_t)stream, buffer, length_bytes);
    LIBC_REAL(setbuffer)(stream, buffer, length_bytes);
}
