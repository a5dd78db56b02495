/* SPDX-License-Identifier: MIT */
#include "libc/use.h"

#include <errno.h>
#include <limits.h>
#include <linux/ioctl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/options.h"
#include "base/room.h"
#include "engine/engine.h"
#include "engine/gate.h"
#include "engine/sockets.h"
#include "libc/keep.h"
#include "libc/owner.h"
#include "libc/real.h"
#include "libc/threads.h"
#include "op/session.h"
#include "op/transfer.h"

void libc_use_reads(const void *address, size_t length_bytes)
{
    int saved_errno = errno;
    wait_read(address, length_bytes);
    errno = saved_errno;
}

void libc_use_writes(const void *address, size_t length_bytes)
{
    int saved_errno = errno;
    wait_write(address, length_bytes);
    errno = saved_errno;
}

void libc_use_string(const char *string)
{
    /* strlen is a touch like any other and may itself wait. */
    if (string)
        libc_use_reads(string, strlen(string) + 1);
}

/* The string is only looked at where something near is held: programs ask access() and its kin whether there is memory
 * at an address. A child of vfork() must not touch its parent's ops. */
void libc_use_path(const char *path)
{
    struct range longest = base_range_of(path, PATH_MAX);
    if (path != NULL && !gate_is_inside() && protect_armed_find(longest, true) != 0 && libc_owner_is_here())
        libc_use_string(path);
}

void libc_use_strings(char *const *strings)
{
    /* Looking at the array is a touch, too. */
    for (; strings && *strings; strings++)
        libc_use_string(*strings);
}

/* The kernel refuses more than IOV_MAX parts (1024) before it looks at any. */
static size_t vector_parts(size_t count)
{
    return count <= 1024 ? count : 0;
}

void libc_use_vector_reads(const struct iovec *vector, size_t count)
{
    libc_use_reads(vector, vector_parts(count) * sizeof(*vector));
    for (size_t i = 0; i < vector_parts(count); i++)
        libc_use_reads(vector[i].iov_base, vector[i].iov_len);
}

void libc_use_vector_writes(const struct iovec *vector, size_t count)
{
    libc_use_reads(vector, vector_parts(count) * sizeof(*vector));
    for (size_t i = 0; i < vector_parts(count); i++)
        libc_use_writes(vector[i].iov_base, vector[i].iov_len);
}

void libc_use_message_reads(const struct msghdr *message)
{
    libc_use_reads(message, sizeof(*message));
    libc_use_reads(message->msg_name, message->msg_namelen);
    libc_use_reads(message->msg_control, message->msg_controllen);
    libc_use_vector_reads(message->msg_iov, message->msg_iovlen);
}

void libc_use_message_writes(const struct msghdr *message)
{
    libc_use_writes(message, sizeof(*message));
    libc_use_writes(message->msg_name, message->msg_namelen);
    libc_use_writes(message->msg_control, message->msg_controllen);
    libc_use_vector_writes(message->msg_iov, message->msg_iovlen);
}

static void use_aio_request(struct aiocb *request)
{
    libc_use_writes(request, sizeof(*request));
    if (request->aio_lio_opcode == LIO_WRITE)
        libc_use_reads((void *)request->aio_buf, request->aio_nbytes);
    if (request->aio_lio_opcode != LIO_READ)
        return;
    libc_use_writes((void *)request->aio_buf, request->aio_nbytes);
    libc_use_file(request->aio_fildes);
}

void libc_use_aio_list(struct aiocb *const *list, int count)
{
    libc_use_reads(list, libc_use_product(count > 0 ? (size_t)count : 0, sizeof(*list)));
    for (int i = 0; i < count; i++) {
        if (list[i] != NULL)
            use_aio_request(list[i]);
    }
}

void libc_use_sized_writes(const void *address, const socklen_t *length)
{
    libc_use_writes(length, length ? sizeof(*length) : 0);
    libc_use_writes(address, length ? *length : 0);
}

void libc_use_descriptors(const fd_set *set, int count)
{
    size_t bits = 8 * sizeof(long);
    size_t words = count > 0 ? ((size_t)count + bits - 1) / bits : 0;
    libc_use_writes(set, words * sizeof(long));
}

void libc_use_break_at(uintptr_t address)
{
    uintptr_t current = (uintptr_t)syscall(SYS_brk, 0);
    if (address < current)
        libc_use_writes((void *)address, current - address);
}

void libc_use_break_by(intptr_t increment_bytes)
{
    uintptr_t current = (uintptr_t)syscall(SYS_brk, 0);
    if (increment_bytes < 0)
        libc_use_break_at(current + (uintptr_t)increment_bytes);
}

void libc_use_block(void *block)
{
    if (!block)
        return;
    /* First where the block begins: the allocator reads its size beside it, and a
     * wait here is better than a fault there. */
    libc_use_writes(block, 1);
    libc_real_usable_size_fn *usable_size = libc_real_usable_size();
    if (usable_size != NULL)
        libc_use_writes(block, usable_size(block));
    else
        libc_use_all();
}

void libc_use_all(void)
{
    int saved_errno = errno;
    /* A child of vfork runs in its parent's memory and must not touch its ops. */
    if (libc_owner_is_here())
        wait_all();
    errno = saved_errno;
}

bool libc_use_is_programs(void)
{
    return !gate_is_inside() && !gate_thread.is_of_mpi;
}

void libc_use_known(void)
{
    int saved_errno = errno;
    /* A thread of MPI's may be what the ops need to go on (a connection in the making). */
    if (!gate_thread.is_of_mpi && libc_owner_is_here())
        wait_known();
    errno = saved_errno;
}

void libc_use_tells(void)
{
    int saved_errno = errno;
    if (!gate_thread.is_of_mpi && libc_owner_is_here())
        transfer_wait_unmatched_unless_interrupted();
    errno = saved_errno;
}

void libc_use_shares(int condition, const void *caller)
{
    int saved_errno = errno;
    if (condition && libc_use_is_programs() && libc_owner_is_here())
        session_share_memory((uintptr_t)caller);
    errno = saved_errno;
}

void libc_use_known_when(int condition)
{
    if (condition)
        libc_use_known();
}

/* Only who has received knows of anything that others did. */
static bool is_receiver(void)
{
    return !gate_is_inside() && protect_armed_is_receiving();
}

void libc_use_known_received(void)
{
    if (is_receiver())
        libc_use_known();
}

int libc_use_is_named(const struct msghdr *message)
{
    return is_receiver() && message != NULL && message->msg_name != NULL;
}

bool libc_use_makes_room(int error)
{
    int saved_errno = errno;
    if (error != ENOMEM || !protect_armed_is_any() || !libc_use_is_programs() || !libc_owner_is_here())
        return false;
    transfer_wait_due_unless_interrupted();
    errno = saved_errno;
    return true;
}

void libc_use_grows(size_t length_bytes)
{
    bool is_asked = length_bytes >= BASE_ROOM_SMALL_BYTES && protect_armed_is_elsewhere();
    if (is_asked && !base_room_remains(length_bytes, BASE_ROOM_BESIDE_BYTES))
        (void)libc_use_makes_room(ENOMEM);
}

void libc_use_limits(int resource)
{
    if (resource != RLIMIT_AS && resource != RLIMIT_DATA && resource != RLIMIT_STACK)
        return;
    engine_heap_wait();
    libc_use_all();
}

/* Of a pipe without a name this process or a relative has both ends; in one with a name a peer may have left a token,
 * and the one that reads first has it. */
static bool is_named_pipe(int descriptor, const struct stat *status)
{
    struct statfs system;
    return S_ISFIFO(status->st_mode) && syscall(SYS_fstatfs, descriptor, &system) == 0 && system.f_type != PIPEFS_MAGIC;
}

/* Past libc, whose fstat() is an entry, and before 2.33 has another name. */
static bool is_file(int descriptor)
{
    int saved_errno = errno;
    struct stat status;
    bool is_open = syscall(SYS_fstat, descriptor, &status) == 0;
    bool is_kept = is_open && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
    bool is_found = is_kept || (is_open && is_named_pipe(descriptor, &status));
    errno = saved_errno;
    return is_found;
}

void libc_use_file(int descriptor)
{
    if (descriptor >= 0 && is_receiver() && is_file(descriptor))
        libc_use_known();
}

void libc_use_stream(FILE *stream)
{
    int saved_errno = errno;
    int descriptor = fileno(stream); /* EBADF where there is none: fmemopen(), fopencookie() */
    errno = saved_errno;
    libc_use_file(descriptor);
}

void libc_use_drain(void)
{
    if (options.drain_system_calls && !libc_threads_own.takes_own && protect_armed_is_any())
        libc_use_all();
}

void libc_use_all_when(int condition)
{
    if (condition)
        libc_use_all();
}

void libc_use_threads(int condition, const void *caller)
{
    if (condition && libc_use_is_programs())
        libc_threads_note_begun((uintptr_t)caller);
}

void libc_use_locks(const void *address, size_t length_bytes)
{
    locked_add(base_range_of(address, length_bytes));
}

static void use_later(uintptr_t owner, const void *buffer, size_t length_bytes)
{
    if (protect_armed_is_any())
        libc_use_writes(buffer, length_bytes);
    libc_keep_set(owner, base_range_of(buffer, buffer == NULL ? 0 : length_bytes));
}

void libc_use_keeps(int condition, const FILE *stream, const void *buffer, size_t length_bytes)
{
    if (condition && buffer != NULL)
        use_later((uintptr_t)stream, buffer, length_bytes);
}

/* A page of an alternate stack that were held would end the process at the next signal: the kernel could not write its
 * frame. */
void libc_use_keeps_stack(const stack_t *stack)
{
    if (protect_armed_is_any())
        libc_use_reads(stack, sizeof *stack);
    if (stack != NULL)
        use_later((uintptr_t)pthread_self(), stack->ss_flags & SS_DISABLE ? NULL : stack->ss_sp, stack->ss_size);
}

static int socket_fact(int descriptor, int name)
{
    int value = -1;
    socklen_t value_bytes = sizeof(value);
    getsockopt(descriptor, SOL_SOCKET, name, &value, &value_bytes);
    return value;
}

static bool is_stream_socket(int descriptor)
{
    int domain = socket_fact(descriptor, SO_DOMAIN);
    return (domain == AF_INET || domain == AF_INET6) && socket_fact(descriptor, SO_TYPE) == SOCK_STREAM;
}

void libc_use_socket(int condition, int descriptor)
{
    int saved_errno = errno;
    if (condition && is_stream_socket(descriptor))
        engine_sockets_add(descriptor);
    errno = saved_errno;
}

void libc_use_key(int key)
{
    int saved_errno = errno;
    if (key > 0 && libc_owner_is_here()) /* 0 is everybody's, -1 none */
        session_meet_key();
    errno = saved_errno;
}

void libc_use_filters(int condition)
{
    int saved_errno = errno;
    if (condition && libc_owner_is_here())
        session_meet_filter();
    errno = saved_errno;
}

void libc_use_hides(int condition)
{
    int saved_errno = errno;
    if (condition && libc_owner_is_here())
        transfer_wait_readable();
    errno = saved_errno;
}

int libc_use_is_hiding(long option, unsigned long first)
{
    return (option == PR_SET_DUMPABLE && first != 1) || (option == PR_SET_PTRACER && first != PR_SET_PTRACER_ANY);
}

int libc_use_is_first_thread(void)
{
    return getpid() == (pid_t)syscall(SYS_gettid);
}

size_t libc_use_product(size_t a, size_t b)
{
    size_t product;
    return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

size_t libc_use_events(int count)
{
    return count > 0 ? (size_t)count * sizeof(struct epoll_event) : 0;
}

size_t libc_use_ioctl_bytes(unsigned long request)
{
    /* Requests from before the encoding (terminals, sockets) say 0 or nonsense;
     * the largest structure among them (struct ifreq, termios) is below 256 bytes. */
    size_t encoded_bytes = _IOC_SIZE(request);
    return encoded_bytes > 256 ? encoded_bytes : 256;
}

int libc_use_is_lock(int command)
{
    bool is_of_process = command == F_GETLK || command == F_SETLK || command == F_SETLKW;
    return is_of_process || command == F_OFD_GETLK || command == F_OFD_SETLK || command == F_OFD_SETLKW;
}
