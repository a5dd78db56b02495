/* SPDX-License-Identifier: MIT */
/* Claim: the name of a host's file holds all that the kernel calls this boot, differs between containers of one host,
 * even if they have one host name, and is no longer than file systems take. The names of processes' own files differ,
 * even if host name, process number and rank are the same (containers with PID namespaces of their own). */
#define _GNU_SOURCE /* unshare */
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/claim.h"
#include "record/name.h"

enum { NAME_BYTES = 512 };

static void name_take(char *name)
{
    claim(record_name_of_host(name, NAME_BYTES, "folder", "profiles"), "this host has a name");
}

static void boot_check(const char *name)
{
    char boot[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    claim(file != NULL && fscanf(file, "%63s", boot) == 1, "the boot's name");
    fclose(file);
    claim(strstr(name, boot) != NULL, "the whole of it");
}

/* In a child, with a host name of its own that is as long as they get. Needs rights that a test may lack. */
static void container_check(const char *outside)
{
    char host[64];
    char inside[NAME_BYTES];
    memset(host, 'h', sizeof host);
    if (unshare(CLONE_NEWUTS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWUTS) != 0)
        return;
    name_take(inside);
    claim(strcmp(inside, outside) != 0, "another namespace, another file");
    claim(sethostname(host, sizeof host) == 0, "a long host name");
    name_take(inside);
    claim(strlen(inside) - strlen("folder/") <= NAME_MAX, "it is not too long");
}

struct found {
    pid_t number;
    char own[NAME_BYTES];
    char of_host[NAME_BYTES];
};

/* As the first process of a PID namespace. */
static void found_send(int pipe_end)
{
    struct found found = {.number = getpid()};
    claim(record_name_make(found.own, NAME_BYTES, "folder", 0, "ranks"), "a name of its own");
    name_take(found.of_host);
    claim(write(pipe_end, &found, sizeof found) == (ssize_t)sizeof found, "the parent hears of it");
    _exit(0);
}

enum { NOT_PERMITTED = 77 };

/* A namespace is the children's of who makes it, so its first process is two on from here. */
static int number_repeat(int pipe_end)
{
    int status = 0;
    if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
        return NOT_PERMITTED;
    if (fork() == 0)
        found_send(pipe_end);
    return wait(&status) > 0 && status == 0 ? 0 : 1;
}

/* False: not permitted. */
static bool found_receive(const int ends[2], struct found *found)
{
    int status = 0;
    if (fork() == 0)
        _exit(number_repeat(ends[1]));
    claim(wait(&status) > 0 && WIFEXITED(status), "a container ends");
    if (WEXITSTATUS(status) == NOT_PERMITTED)
        return false;
    claim(WEXITSTATUS(status) == 0, "and ends well");
    return read(ends[0], found, sizeof *found) == (ssize_t)sizeof *found;
}

/* Two processes with one host name and one number. False: not permitted. */
static bool numbers_check(void)
{
    int ends[2];
    struct found one;
    struct found other;
    claim(pipe(ends) == 0, "a pipe");
    if (!found_receive(ends, &one) || !found_receive(ends, &other))
        return false;
    claim(one.number == other.number, "one process number");
    claim(strcmp(one.own, other.own) != 0, "two files, though host, process number and rank are the same");
    claim(strcmp(one.of_host, other.of_host) == 0, "one file of the host, which both append to");
    return true;
}

int main(void)
{
    int status = 0;
    char name[NAME_BYTES];
    char again[NAME_BYTES];
    name_take(name);
    name_take(again);
    claim(strcmp(name, again) == 0, "one host, one file");
    boot_check(name);
    claim(!record_name_of_host(again, strlen(name), "folder", "profiles"), "a name that is cut is none");
    if (fork() == 0) {
        container_check(name);
        _exit(0);
    }
    claim(wait(&status) > 0 && status == 0, "a container of this host");
    if (!numbers_check())
        puts("no PID namespaces may be made here: one number twice was not tried");
    return 0;
}
