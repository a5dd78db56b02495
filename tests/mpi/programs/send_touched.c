/* SPDX-License-Identifier: MIT */
/* Claim: with copies on touch a program may do with a buffer that is being sent whatever it likes: what arrives is what
 * the buffer held at the call, and what the program did to it is there afterwards.
 * defers: send
 * copies: touched
 * environment: LAPWING_SEND_BUFFERS=copy-touched
 * quick: openmpi4 mpich4 */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = CHECK_LARGE_BYTES, OFFSET = 100, PIPE_BYTES = 4096, ROUNDS = 3 };

static unsigned char *buffer; /* OFFSET bytes before and behind the message */
static unsigned seed;

static unsigned char *message(void)
{
    return buffer + OFFSET;
}

static void send_message(int tag)
{
    seed++;
    check_fill(message(), LENGTH, seed);
    check_send(message(), LENGTH, 1, tag);
}

static void receive_message(int tag)
{
    unsigned char *received = check_buffer_new(LENGTH);
    check_recv_late(received, LENGTH, ++seed, 0, tag, "what arrives is what the buffer held at the call");
    free(received);
}

static void expect_but(size_t from, size_t length_bytes, unsigned char value)
{
    for (size_t i = 0; i < LENGTH; i++) {
        bool is_changed = i >= from && i < from + length_bytes;
        check(message()[i] == (is_changed ? value : check_byte(i, seed)), "what the program did is there");
    }
}

static void write_some(int tag)
{
    send_message(tag);
    message()[LENGTH / 2] = 0xAB;
    buffer[0] = buffer[OFFSET + LENGTH] = 0xCD;
    message()[LENGTH - 1] = 0xAB;
    message()[LENGTH - 1] = check_byte(LENGTH - 1, seed);
    expect_but(LENGTH / 2, 1, 0xAB); /* reads all */
    check(buffer[0] == 0xCD && buffer[OFFSET + LENGTH] == 0xCD, "what lies beside is there, too");
}

static void write_all(int tag)
{
    send_message(tag);
    memset(message(), 0xAB, LENGTH);
    expect_but(0, LENGTH, 0xAB);
}

static void send_again(int tag)
{
    send_message(tag);
    check_send(message(), LENGTH, 1, tag + 1);
    message()[7] = 0xAB;
    expect_but(7, 1, 0xAB);
}

static void receive_again(int tag)
{
    receive_message(tag);
    seed--;
    receive_message(tag + 1);
}

/* Its pages must not leave while MPI reads them for a request of the program's. */
static void send_beside_request(int tag)
{
    MPI_Request request;
    seed++;
    check_fill(message(), LENGTH, seed);
    MPI_Isend(message(), LENGTH, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request);
    check_send(message(), LENGTH, 1, tag + 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    message()[7] = 0xAB;
    expect_but(7, 1, 0xAB);
}

static void receive_into(int tag)
{
    send_message(tag);
    check_recv(message(), LENGTH, 1, tag);
    expect_but(0, LENGTH, 0xEE);
}

static void send_back(int tag)
{
    unsigned char *other = check_buffer_new(LENGTH); /* 0xEE */
    receive_message(tag);
    check_send(other, LENGTH, 0, tag);
    free(other);
}

static void system_calls(int tag)
{
    int ends[2];
    check(pipe(ends) == 0, "a pipe");
    send_message(tag);
    check(write(ends[1], message() + LENGTH / 2, PIPE_BYTES) == PIPE_BYTES, "write from a buffer under way");
    check(read(ends[0], message(), PIPE_BYTES) == PIPE_BYTES, "read into one");
    for (size_t i = 0; i < PIPE_BYTES; i++)
        check(message()[i] == check_byte(LENGTH / 2 + i, seed), "the bytes that were written");
    close(ends[0]);
    close(ends[1]);
}

static void fork_child(int tag)
{
    int status = 0;
    send_message(tag);
    message()[LENGTH / 3] = 0xAB;
    pid_t child = fork();
    if (child == 0)
        _exit(message()[LENGTH / 3] != 0xAB || message()[LENGTH - 1] != check_byte(LENGTH - 1, seed));
    waitpid(child, &status, 0);
    check(status == 0, "a child sees the buffer as its parent does");
    expect_but(LENGTH / 3, 1, 0xAB);
}

static void give_back(int tag)
{
    send_message(tag);
    message()[7] = 0xAB;
    free(buffer);
    buffer = check_buffer_new(LENGTH + 2 * OFFSET);
}

static const struct {
    void (*sender)(int tag);
    void (*receiver)(int tag);
} ways[] = {
    {write_some, receive_message},        {write_all, receive_message}, {send_again, receive_again},
    {send_beside_request, receive_again}, {receive_into, send_back},    {system_calls, receive_message},
    {fork_child, receive_message},        {give_back, receive_message},
};

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    buffer = check_buffer_new(LENGTH + 2 * OFFSET);
    for (int round = 0; round < ROUNDS; round++)
        for (size_t way = 0; way < sizeof ways / sizeof ways[0]; way++)
            (check_rank() == 0 ? ways[way].sender : ways[way].receiver)((int)way * 2);
    free(buffer);
    return check_end();
}
