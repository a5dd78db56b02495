/* SPDX-License-Identifier: MIT */
/* Claim: system(), popen() and posix_spawn() work while ops are pending, and give the command's exit code.
 * defers: send
 * quick: openmpi4 */
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

extern char **environ;

static void command_spawn(void)
{
    char *words[] = {"sh", "-c", "exit 5", NULL};
    pid_t child;
    int result = 0;
    check(posix_spawnp(&child, "sh", NULL, NULL, words, environ) == 0, "posix_spawnp()");
    waitpid(child, &result, 0);
    check(WEXITSTATUS(result) == 5, "the spawned command's exit code");
}

static void command_open(void)
{
    char line[16] = "";
    FILE *output = popen("echo hello", "r");
    check(fgets(line, sizeof line, output) && strcmp(line, "hello\n") == 0, "popen() reads the command's output");
    pclose(output);
}

static void command_run(int way)
{
    if (way == 0)
        check(WEXITSTATUS(system("exit 3")) == 3, "system() gives the exit code");
    if (way == 1)
        command_open();
    if (way == 2)
        command_spawn();
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    for (int way = 0; way < 3; way++) {
        if (check_rank() == 1) {
            check_recv_late(buffer, CHECK_LARGE_BYTES, way, 0, way, "the message arrived");
            continue;
        }
        check_fill(buffer, CHECK_LARGE_BYTES, way);
        check_send(buffer, CHECK_LARGE_BYTES, 1, way);
        command_run(way);
        memset(buffer, 0, CHECK_LARGE_BYTES);
    }
    return check_end();
}
