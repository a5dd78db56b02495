/* SPDX-License-Identifier: MIT */
/* Claim: a program that asks for a function before all constructors, as the runtime of clang's
 * UndefinedBehaviorSanitizer does, keeps its environment.
 * flags: -ldl
 * quick: openmpi4 mpich4 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

static void runtime_ask(void)
{
    (void)dlsym(RTLD_DEFAULT, "strlen");
}

__attribute__((section(".preinit_array"), used)) static void (*const asks_first)(void) = runtime_ask;

int main(int argc, char **argv)
{
    bool has_environment = environ != NULL && getenv("PATH") != NULL;
    check_start(&argc, &argv);
    check(has_environment, "the environment is there");
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 0) {
        check_fill(buffer, CHECK_LARGE_BYTES, 5);
        check_send(buffer, CHECK_LARGE_BYTES, 1, 1);
    } else if (check_rank() == 1) {
        check_recv(buffer, CHECK_LARGE_BYTES, 0, 1);
        check(check_is_filled(buffer, CHECK_LARGE_BYTES, 5), "the message");
    }
    return check_end();
}
