/* SPDX-License-Identifier: MIT */
/* Claim: a process that reads and writes its own memory by process_vm_readv() and process_vm_writev() finds the
 * message. defers: receive send */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"

static unsigned char *buffer;

static void receive_and_read(void)
{
    unsigned char seen = 0;
    struct iovec here = {&seen, 1};
    struct iovec there = {buffer + 5000, 1};
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    check(process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1, "reading the message");
    check(seen == check_byte(5000, 4), "what was read");
}

static void receive_and_look(void)
{
    unsigned char seen = 0;
    int memory = open("/proc/self/mem", O_RDONLY);
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 2);
    check(pread(memory, &seen, 1, (off_t)(size_t)(buffer + 5000)) == 1, "looking into /proc/self/mem");
    check(seen == check_byte(5000, 6), "what was seen");
}

static void send_and_write(void)
{
    unsigned char other = 77;
    struct iovec here = {&other, 1};
    struct iovec there = {buffer + 5000, 1};
    check_send(buffer, CHECK_LARGE_BYTES, 1, 1);
    check(process_vm_writev(getpid(), &here, 1, &there, 1, 0) == 1, "writing after the send");
    check(buffer[5000] == 77, "what was written");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 0) {
        receive_and_read();
        send_and_write();
        receive_and_look();
        return check_end();
    }
    check_fill(buffer, CHECK_LARGE_BYTES, 4);
    check_delay();
    check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
    check_delay();
    check_recv(buffer, CHECK_LARGE_BYTES, 0, 1);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 4), "the message that was sent");
    check_fill(buffer, CHECK_LARGE_BYTES, 6);
    check_delay();
    check_send(buffer, CHECK_LARGE_BYTES, 0, 2);
    return check_end();
}
