/* SPDX-License-Identifier: MIT */
/* Claim: the name of a host's file holds all that the kernel calls this boot, differs between containers of one host,
 * even if they have one host name, and is no longer than file systems take. */
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
    return 0;
}
