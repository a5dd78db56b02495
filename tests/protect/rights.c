/* SPDX-License-Identifier: MIT */
/* Claim: with protection keys a thread that is older than they are, and a signal handler, read what is sent as any
 * other thread does; what is received waits for each of them; a thread that is begun inside the gate has the rights to
 * it; and the bits of other keys stay as the program has set them. */
#include <signal.h>
#include <sys/syscall.h>

#include "base/rights.h"
#include "hold_test.h"

enum { BYTES = 65536, OTHER_CLOSED = 1 };

static char *memory;
static _Atomic bool is_held, is_read;
static _Atomic char seen;

static void *read_when_held(void *unused)
{
    while (!atomic_load(&is_held))
        sleep_ms(1);
    atomic_store(&seen, *(volatile char *)memory);
    atomic_store(&is_read, true);
    return unused;
}

static void handle(int number)
{
    (void)number;
    atomic_store(&seen, *(volatile char *)memory);
    atomic_store(&is_read, true);
}

static void old_thread_reads_sent(pthread_t thread)
{
    struct hold *hold = hold_arm(HOLD_NO_WRITE, memory, BYTES, TEST_OP);
    atomic_store(&is_held, true);
    pthread_join(thread, NULL);
    check(atomic_load(&seen) == 'o', "a thread from before the keys reads what is sent");
    protect_hold_release(hold);
}

static void handler_reads_sent(void)
{
    struct hold *hold = hold_arm(HOLD_NO_WRITE, memory, BYTES, TEST_OP);
    atomic_store(&is_read, false);
    signal(SIGUSR1, handle);
    raise(SIGUSR1);
    check(atomic_load(&is_read) && atomic_load(&seen) == 'o', "a handler reads what is sent");
    protect_hold_release(hold);
}

static void *wait_for_signal(void *unused)
{
    while (!atomic_load(&is_read))
        sleep_ms(1);
    return unused;
}

/* It interrupts a thread that is inside the gate: its own rights are the program's. */
static void handler_waits_for_received(void)
{
    pthread_t thread;
    struct hold *hold = hold_arm(HOLD_NO_ACCESS, memory, BYTES, TEST_OP);
    atomic_store(&is_read, false);
    inside_begin();
    check(pthread_create(&thread, NULL, wait_for_signal, NULL) == 0, "a thread");
    pthread_kill(thread, SIGUSR1);
    sleep_ms(30);
    check(!atomic_load(&is_read), "a handler waits for what is received");
    inside_end();
    arrive(protect_hold_transfer_address(hold), 'n', BYTES);
    protect_hold_release(hold);
    pthread_join(thread, NULL);
    check(atomic_load(&seen) == 'n', "and sees what has arrived");
}

static void thread_of_mpi_has_rights(void)
{
    struct toucher toucher;
    struct hold *hold = hold_arm(HOLD_NO_ACCESS, memory, BYTES, TEST_OP);
    inside_begin();
    toucher_start(&toucher, memory + 5, true, 'm');
    inside_end();
    toucher_join(&toucher);
    protect_hold_release(hold);
    check(memory[5] == 'm', "a thread of MPI's writes what is received");
}

static uint32_t bits_of(int key, uint32_t bits)
{
    return bits << 2 * key;
}

static void other_keys_stay(void)
{
    int key = (int)syscall(SYS_pkey_alloc, 0UL, (unsigned long)OTHER_CLOSED);
    struct base_rights rights = protect_rights();
    check(key > 0 && (rights.mask & bits_of(key, 3)) == 0, "a key of the program's");
    inside_begin();
    check((machine_rights_read() & bits_of(key, 3)) == bits_of(key, OTHER_CLOSED), "is as it was inside the gate");
    inside_end();
    check((machine_rights_read() & bits_of(key, 3)) == bits_of(key, OTHER_CLOSED), "and after it");
    check((machine_rights_read() & rights.mask) == rights.closed, "where ours are closed");
}

int main(int argument_count, char **arguments)
{
    pthread_t thread;
    check(pthread_create(&thread, NULL, read_when_held, NULL) == 0, "a thread from before");
    backend_start(argument_count, arguments);
    memory = memory_map(BYTES);
    memset(memory, 'o', BYTES);
    old_thread_reads_sent(thread);
    handler_reads_sent();
    handler_waits_for_received();
    thread_of_mpi_has_rights();
    other_keys_stay();
    return 0;
}
