/* SPDX-License-Identifier: MIT */
/* Claim: what is spare is what no rank of the host uses, in folders that tell of made-up hosts. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/claim.h"
#include "base/cores.h"
#include "engine/spare.h"

static char root[] = "/tmp/lapwing-spare-XXXXXX";

static void folder_make(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    claim(mkdir(path, 0700) == 0, path);
}

static void file_write(const char *name, const char *text, size_t length_bytes)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *file = fopen(path, "w");
    claim(file != NULL && fwrite(text, 1, length_bytes, file) == length_bytes && fclose(file) == 0, path);
}

static void processor_make(int processor, const char *siblings)
{
    char name[64];
    snprintf(name, sizeof name, "cpus/cpu%d", processor);
    folder_make(name);
    snprintf(name, sizeof name, "cpus/cpu%d/topology", processor);
    folder_make(name);
    snprintf(name, sizeof name, "cpus/cpu%d/topology/thread_siblings_list", processor);
    file_write(name, siblings, strlen(siblings));
}

static void thread_make(const char *process, const char *thread, const char *thread_name, const char *cores)
{
    char name[64];
    char text[256];
    snprintf(name, sizeof name, "proc/%s/task/%s", process, thread);
    folder_make(name);
    snprintf(name, sizeof name, "proc/%s/task/%s/status", process, thread);
    int length = snprintf(text, sizeof text, "Name:\t%s\nUmask:\t0022\nCpus_allowed:\tff\nCpus_allowed_list:\t%s\n",
                          thread_name, cores);
    file_write(name, text, (size_t)length);
}

/* environment: with its null bytes. */
static void process_make(const char *process, const char *environment, size_t length_bytes)
{
    char name[64];
    snprintf(name, sizeof name, "proc/%s", process);
    folder_make(name);
    snprintf(name, sizeof name, "proc/%s/environ", process);
    file_write(name, environment, length_bytes);
    snprintf(name, sizeof name, "proc/%s/task", process);
    folder_make(name);
}

static void host_make(void)
{
    static const char rank[] = "HOME=/\0PMI_RANK=1";
    static const char launcher[] = "XPMI_RANK=1\0PMI_RANKS=2\0PMI_RANK";
    claim(mkdtemp(root) != NULL, "a folder");
    folder_make("cpus");
    folder_make("proc");
    file_write("cpus/online", "0-7\n", 4);
    for (int i = 0; i < 8; i++)
        processor_make(i, (const char *[]){"0,4\n", "1,5\n", "2,6\n", "3,7\n"}[i % 4]);
    process_make("17", launcher, sizeof launcher);
    thread_make("17", "17", "mpirun", "0-7");
    process_make("20", rank, sizeof rank);
    thread_make("20", "20", "app", "1");
    thread_make("20", "21", "app", "1,5");
    thread_make("20", "22", "lapwing-engine", "3,7");
    thread_make("20", "23", "lapwing-engines", "5");
}

static struct engine_spare find(long ranks, const char *own)
{
    char processes[256];
    char processors[256];
    cpu_set_t mask;
    snprintf(processes, sizeof processes, "%s/proc", root);
    snprintf(processors, sizeof processors, "%s/cpus", root);
    base_cores_parse(own, &mask);
    struct engine_spare_folders folders = {.processes = processes, .processors = processors};
    return engine_spare_find(folders, "PMI_RANK", ranks, &mask);
}

static void expect(const char *own, const char *idle, const char *beside)
{
    char found_idle[64];
    char found_beside[64];
    struct engine_spare spare = find(1, own);
    claim(spare.is_known, "all ranks were seen");
    base_cores_format(&spare.idle, found_idle, sizeof found_idle);
    base_cores_format(&spare.beside, found_beside, sizeof found_beside);
    if (strcmp(found_idle, idle) != 0 || strcmp(found_beside, beside) != 0)
        fprintf(stderr, "own %s: idle %s, beside %s\n", own, found_idle, found_beside);
    claim(strcmp(found_idle, idle) == 0 && strcmp(found_beside, beside) == 0, own);
}

int main(void)
{
    char command[64];
    host_make();
    expect("0", "2-3,6-7", "4");  /* the other thread of its own core is free, those of idle cores are better */
    expect("0,4", "2-3,6-7", ""); /* whole cores */
    expect("0-4,6-7", "", "");    /* 5 is another rank's */
    expect("0,2-3", "", "4,6-7"); /* hardware threads alone are left */
    expect("0-7", "", "");        /* not bound */
    claim(!find(2, "0").is_known, "one of two ranks is not seen");
    claim(!find(-1, "0").is_known, "nobody says how many there are");
    thread_make("20", "24", "app", "0-2000");
    claim(!find(1, "0").is_known, "what a thread uses is not known");
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command) == 0 ? 0 : 1;
}
