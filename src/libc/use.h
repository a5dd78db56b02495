/* SPDX-License-Identifier: MIT */
/* What an entry does about memory that its function is going to use: one
 * function per role of functions.toml. All keep errno. Call them only when
 * something is armed. */
#ifndef LIBC_USE_H
#define LIBC_USE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libc/real.h"
#include "op/wait.h"
#include "protect/locked.h"
#include "protect/memory_kept.h"
#include "protect/protect.h"

/* True when an entry may call the real function at once. */
static inline bool libc_use_is_idle(void)
{
    return __builtin_expect(!protect_armed_is_any(), 1);
}

/* True when a system call on held memory would fail now, or go wrong. Where it would not, the kernel waits, which does
 * for calls of which nothing is known: what is known to use memory waits here whatever the backend. In the kernel a
 * thread handles no signal, and may have a lock that others want. */
static inline bool libc_use_is_failing(void)
{
    return protect_armed_is_any() && protect_system_calls_must_wait();
}

/* With the option drain_system_calls: every pending op, before any entry. */
void libc_use_drain(void);

/* What a system call uses, by its number. False when it is unknown (generated). */
bool libc_use_system_call(long number, long a, long b, long c, long d, long e, long f);

void libc_use_reads(const void *address, size_t length_bytes);
void libc_use_writes(const void *address, size_t length_bytes);
/* A string of the caller; null allowed. */
void libc_use_string(const char *string);
/* The name of a file; any address allowed. */
void libc_use_path(const char *path);
/* An array of strings that ends with a null pointer; null allowed. */
void libc_use_strings(char *const *strings);
/* The vector itself is read; what it points to is read or written. */
void libc_use_vector_reads(const struct iovec *vector, size_t count);
void libc_use_vector_writes(const struct iovec *vector, size_t count);
void libc_use_message_reads(const struct msghdr *message);
void libc_use_message_writes(const struct msghdr *message);
/* What lio_listio() is to do; its requests may be null. */
void libc_use_aio_list(struct aiocb *const *list, int count);
/* *length says how many bytes may be written, and is written itself; both may be null. */
void libc_use_sized_writes(const void *address, const socklen_t *length);
/* A set of select(): as many words as `count` descriptors need. */
void libc_use_descriptors(const fd_set *set, int count);
/* The program break: down to an address, or by an amount. */
void libc_use_break_at(uintptr_t address);
void libc_use_break_by(intptr_t increment_bytes);
/* A block of malloc. */
void libc_use_block(void *block);
/* Every pending op; for calls of which nothing more is known. */
void libc_use_all(void);
/* Every op whose end the calling thread must take for done, before it looks at what
 * other processes may have left. Not for MPI's own threads, nor inside MPI. */
void libc_use_known(void);
void libc_use_known_when(int condition);
/* As known, if anything is being received; for calls of which nothing more is known. Not inside MPI. */
void libc_use_known_received(void);
/* Does a message of the program's name where it goes? A peer may have made that name. */
int libc_use_is_named(const struct msghdr *message);
/* Other processes may learn from the call that this one has received. */
void libc_use_tells(void);
/* The program maps memory that they may see, too. Also when nothing is armed. */
void libc_use_shares(int condition, const void *caller);
/* The content of an open file, if the descriptor is one, or a folder, or a pipe with a name. */
void libc_use_file(int descriptor);
/* The same of a stream, which may have no descriptor. */
void libc_use_stream(FILE *stream);
void libc_use_all_when(int condition);
/* After a failure with this error: a message under way takes as many addresses again as its memory has,
 * and they may be limited (RLIMIT_AS). True: those that may have ended are over, try once more. */
bool libc_use_makes_room(int error);
/* Before the program takes addresses: what is under way ends where they would be too few (base/room.h). Nor must libc's
 * malloc fail first: it would make one more arena, 64 MiB of addresses that it keeps (glibc, malloc/arena.c,
 * arena_get_retry). */
void libc_use_grows(size_t length_bytes);
/* The program limits what it may have. */
void libc_use_limits(int resource);
/* libc is about to start threads by itself, if so. Also when nothing is armed. */
void libc_use_threads(int condition, const void *caller);

/* The program locks memory, or unlocks it, or takes it away. Also when nothing is armed. */
void libc_use_locks(const void *address, size_t length_bytes);
static inline void libc_use_unlocks(const void *address, size_t length_bytes)
{
    locked_remove(base_range_of(address, length_bytes));
}

/* It has mapped memory that is locked, if so. Also when nothing is armed. */
static inline void libc_use_maps_locked(int condition, const void *result, size_t length_bytes)
{
    if (condition && result != MAP_FAILED)
        libc_use_locks(result, length_bytes);
}

/* The program gives a stream a buffer, or the kernel a stack for handlers (keep.h); null allowed. Also when nothing is
 * armed. */
void libc_use_keeps(int condition, const FILE *stream, const void *buffer, size_t length_bytes);
void libc_use_keeps_stack(const stack_t *stack);

/* The engine may sleep on this, if it is a stream socket. Also when nothing is armed. */
void libc_use_socket(int condition, int descriptor);

/* Memory gets a protection key. Also when nothing is armed. */
void libc_use_key(int key);

/* Not a call of MPI's: neither of its thread, nor within a call of it. */
bool libc_use_is_programs(void);

/* A filter of system calls is about to be set. Also when nothing is armed. */
void libc_use_filters(int condition);

/* Peers, to which MPI may have told addresses, will not be allowed to read memory here. Also when nothing is armed:
 * copies of Lapwing's own are read so, too. */
void libc_use_hides(int condition);

/* Does this prctl() forbid others to look at the process (ptrace(2))? */
int libc_use_is_hiding(long option, unsigned long first);

/* Is this the thread that the process began with? When it has ended, the kernel finds no memory by the process's number
 * (kernel/exit.c, exit_mm). */
int libc_use_is_first_thread(void);

/* The call may have put another kind of memory somewhere, or changed rights. Also when nothing is armed. */
static inline void libc_use_remaps(int condition)
{
    if (condition)
        memory_kept_note_change();
}

/* Anything but private memory to read and write, of no file. */
static inline int libc_use_is_special(int rights, int flags)
{
    int kind = flags & (MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB);
    return kind != (MAP_PRIVATE | MAP_ANONYMOUS) || (rights & PROT_EXEC) != 0;
}

/* Lengths, saturating: a caller's nonsense must not wrap to a small range. */
size_t libc_use_product(size_t a, size_t b);
size_t libc_use_events(int count);
size_t libc_use_ioctl_bytes(unsigned long request);

/* Is this command of fcntl() about a lock? A peer may have let go of it, or have it while it sends. */
int libc_use_is_lock(int command);

#endif
