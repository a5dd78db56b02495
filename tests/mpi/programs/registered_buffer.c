/* SPDX-License-Identifier: MIT */
/* Claim: a buffer that io_uring knows by its physical pages is received into, and sent from, as it is: the ring's
 * writes and reads meet it where it is, also when the ring was made by system calls past libc.
 * arguments: receive send receive_by_libc
 * passes: memory_device
 * quick: openmpi4 */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = CHECK_LARGE_BYTES, ROUNDS = 3 };

static int ring;
static struct io_uring_params parameters;
static char *submissions;
static char *completions;
static struct io_uring_sqe *entries;

/* As liburing does it, which is built without libc. */
static long call_past_libc(long number, long a, long b, long c, long d)
{
#ifdef __x86_64__
    register long fourth __asm__("r10") = d;
    register long fifth __asm__("r8") = 0;
    register long sixth __asm__("r9") = 0;
    long answer;
    __asm__ volatile("syscall"
                     : "=a"(answer)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return answer;
#else
    return syscall(number, a, b, c, d, 0, 0);
#endif
}

static void *ring_map(size_t length_bytes, off_t offset)
{
    return mmap(NULL, length_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, offset);
}

/* False where the kernel has no io_uring, or gives none to this user. */
static bool ring_open(unsigned char *buffer, bool is_by_libc)
{
    struct iovec part = {buffer, LENGTH};
    ring = is_by_libc ? (int)syscall(SYS_io_uring_setup, 4, &parameters)
                      : (int)call_past_libc(SYS_io_uring_setup, 4, (long)&parameters, 0, 0);
    if (ring < 0)
        return false;
    submissions = ring_map(parameters.sq_off.array + parameters.sq_entries * sizeof(int), IORING_OFF_SQ_RING);
    completions =
        ring_map(parameters.cq_off.cqes + parameters.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
    entries = ring_map(parameters.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
    return call_past_libc(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, (long)&part, 1) == 0;
}

static unsigned *ring_number(char *half, unsigned offset)
{
    return (unsigned *)(half + offset);
}

/* Reads or writes the whole buffer; the result as read(2) gives it. */
static int ring_run(int operation, int file, unsigned char *buffer)
{
    unsigned *tail = ring_number(submissions, parameters.sq_off.tail);
    unsigned index = *tail & *ring_number(submissions, parameters.sq_off.ring_mask);
    entries[index] = (struct io_uring_sqe){
        .opcode = (unsigned char)operation, .fd = file, .addr = (unsigned long)buffer, .len = LENGTH};
    ring_number(submissions, parameters.sq_off.array)[index] = index;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    call_past_libc(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS);
    unsigned *head = ring_number(completions, parameters.cq_off.head);
    struct io_uring_cqe *results = (struct io_uring_cqe *)(completions + parameters.cq_off.cqes);
    int result = results[*head & *ring_number(completions, parameters.cq_off.ring_mask)].res;
    __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
    return result;
}

/* The ring writes what was received into a file. */
static void receive_and_write(unsigned char *buffer, int file, unsigned seed)
{
    unsigned char *content = malloc(LENGTH);
    check_recv(buffer, LENGTH, 1, 0);
    check(ring_run(IORING_OP_WRITE_FIXED, file, buffer) == LENGTH, "the ring writes");
    check(pread(file, content, LENGTH, 0) == LENGTH && check_is_filled(content, LENGTH, seed), "what was received");
    free(content);
}

/* The ring reads a file's 0xFF into the buffer, once the send has returned. */
static void send_and_read(unsigned char *buffer, int file, unsigned char *other, unsigned seed)
{
    memset(other, 0xFF, LENGTH);
    check(pwrite(file, other, LENGTH, 0) == LENGTH, "the file");
    check_fill(buffer, LENGTH, seed);
    check_send(buffer, LENGTH, 1, 0);
    check(ring_run(IORING_OP_READ_FIXED, file, buffer) == LENGTH && buffer[0] == 0xFF, "the ring reads");
}

static void round_run(unsigned char *buffer, int file, bool is_sending, unsigned seed)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 0 && is_sending)
        send_and_read(buffer, file, malloc(LENGTH), seed);
    else if (check_rank() == 0)
        receive_and_write(buffer, file, seed);
    check_delay();
    if (check_rank() == 1 && is_sending) {
        check_recv(buffer, LENGTH, 0, 0);
        check(check_is_filled(buffer, LENGTH, seed), "what was sent");
    } else if (check_rank() == 1) {
        check_fill(buffer, LENGTH, seed);
        check_send(buffer, LENGTH, 0, 0);
    }
}

static int file_new(void)
{
    char name[] = "/tmp/lapwing-test-XXXXXX";
    int file = mkstemp(name);
    unlink(name);
    return file;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int file = file_new();
    memset(buffer, 0xEE, LENGTH);
    if (!ring_open(buffer, strcmp(argv[1], "receive_by_libc") == 0)) {
        MPI_Finalize();
        return 77;
    }
    for (unsigned seed = 0; seed < ROUNDS; seed++)
        round_run(buffer, file, strcmp(argv[1], "send") == 0, seed);
    return check_end();
}
