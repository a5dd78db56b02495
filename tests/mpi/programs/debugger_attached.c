/* SPDX-License-Identifier: MIT */
/* Claim: a debugger can attach to a process that waits at a touch, look at it, and leave it.
 * defers: receive
 * arguments: stack memory
 * timeout: 60
 * quick: openmpi4 */
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static unsigned char *buffer;
static char mark[64]; /* a file that says: the debugger has gone */

static void debugger_run(const char *look, pid_t process)
{
    char command[512];
    snprintf(command, sizeof command,
             "timeout 20 gdb -q -nx -batch -p %d -ex 'handle SIGSEGV nostop noprint' -ex '%s' -ex detach "
             ">/dev/null 2>&1; echo $? >%s.new; mv %s.new %s",
             process, look, mark, mark, mark);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
}

static pid_t debugger_start(const char *way)
{
    char look[64] = "backtrace";
    pid_t process = getpid();
    if (strcmp(way, "memory") == 0)
        snprintf(look, sizeof look, "x/8xb %p", (void *)(buffer + 8192));
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    pid_t child = fork();
    if (child == 0)
        debugger_run(look, process);
    return child;
}

static void wait_for_mark(void)
{
    while (access(mark, R_OK) != 0)
        check_delay();
}

static int mark_read(void)
{
    int code = -1;
    FILE *file = fopen(mark, "r");
    if (file == NULL || fscanf(file, "%d", &code) != 1)
        code = -1;
    if (file != NULL)
        fclose(file);
    unlink(mark);
    return code;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (system("gdb --version >/dev/null 2>&1") != 0) {
        puts("gdb is not installed");
        MPI_Finalize();
        return 77;
    }
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    snprintf(mark, sizeof mark, "/tmp/lapwing-test-%d", getpid());
    MPI_Bcast(mark, sizeof mark, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (check_rank() == 1) {
        check_fill(buffer, CHECK_LARGE_BYTES, 4);
        wait_for_mark();
        check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
        return check_end();
    }
    pid_t child = debugger_start(argv[1]);
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 4), "the message");
    waitpid(child, NULL, 0);
    check(mark_read() == 0, "the debugger came, looked and left");
    return check_end();
}
