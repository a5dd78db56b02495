/* SPDX-License-Identifier: MIT */
#include "dedicate.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cores.h"
#include "base/launch.h"
#include "base/options.h"
#include "plan.h"

enum { LIST_BYTES = 512, COMMAND_LINE_BYTES_MAX = 2 << 20 };

/* Slurm's count is the allocation's ("2(x3)"): only where nobody says better. */
static long local_ranks(void)
{
    long ranks = base_launch_local_ranks();
    const char *slurm_tasks = getenv("SLURM_TASKS_PER_NODE");
    return ranks != 0 || slurm_tasks == NULL ? ranks : atol(slurm_tasks);
}

static void siblings_read(int processor, cpu_set_t *siblings)
{
    char path[128];
    char list[LIST_BYTES] = "";
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", processor);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        (void)!read(file, list, sizeof list - 1);
        close(file);
    }
    if (!base_cores_parse(list, siblings))
        CPU_SET(processor, siblings); /* nobody says: it is alone */
}

static void plan_print(const struct plan *plan, bool is_first_rank)
{
    char program[LIST_BYTES];
    char engine[LIST_BYTES];
    if (plan->refusal != NULL && (is_first_rank || options.show_binding))
        dprintf(STDERR_FILENO, "lapwing: rank %s gives up no core: %s\n", base_launch_rank(), plan->refusal);
    if (plan->refusal != NULL || !options.show_binding)
        return;
    base_cores_format(&plan->program, program, sizeof program);
    base_cores_format(&plan->engine, engine, sizeof engine);
    dprintf(STDERR_FILENO, "lapwing: rank %s: program on %s, engine on %s\n", base_launch_rank(), program, engine);
}

/* No more OpenMP threads than processors are left: one thread too many makes
 * every parallel region wait for two on one core. */
static int openmp_threads(const cpu_set_t *program)
{
    const char *wished = getenv("OMP_NUM_THREADS");
    long threads = wished == NULL ? CPU_SETSIZE : atol(wished);
    return threads > 0 && threads < CPU_COUNT(program) ? (int)threads : CPU_COUNT(program);
}

static bool is_entry_of(const char *entry, const char *variable)
{
    size_t length = strlen(variable);
    return strncmp(entry, variable, length) == 0 && entry[length] == '=';
}

static bool is_replaced(const char *entry)
{
    return is_entry_of(entry, BASE_CORES_VARIABLE) || is_entry_of(entry, "OMP_NUM_THREADS");
}

/* A copy of the environment with two more variables. By hand: a shell has a
 * setenv() of its own (bash, variables.c), which does not reach `environ`. */
static char **environment_with(char *engine, char *threads)
{
    size_t count = 0;
    size_t kept = 0;
    while (environ[count] != NULL)
        count++;
    char **entries = calloc(count + 3, sizeof *entries);
    for (size_t i = 0; entries != NULL && i < count; i++) {
        if (!is_replaced(environ[i]))
            entries[kept++] = environ[i];
    }
    if (entries != NULL) {
        entries[kept++] = engine;
        entries[kept] = threads;
    }
    return entries;
}

/* The length of what `text` gets; 0 when not all of it can be had. */
static size_t command_line_read(char *text, size_t text_bytes)
{
    ssize_t length = 0;
    size_t used = 0;
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    while ((length = read(file, text + used, text_bytes - used)) > 0)
        used += (size_t)length;
    close(file);
    return length < 0 || used == text_bytes ? 0 : used;
}

/* Each argument ends with a null byte. */
static size_t arguments_count(const char *text, size_t used)
{
    size_t count = 0;
    for (size_t i = 0; i < used; i++)
        count += text[i] == '\0';
    return count;
}

static void arguments_split(char *text, size_t count, char **arguments)
{
    for (size_t i = 0; i < count; i++) {
        arguments[i] = text;
        text += strlen(text) + 1;
    }
}

/* The arguments as this process was given them. NULL when they cannot be had: better
 * none than cut ones. */
static char **arguments_read(void)
{
    /* Too large for a stack. It stays: the process is about to start anew, or the arguments are wanted no more. */
    char *text = malloc(COMMAND_LINE_BYTES_MAX);
    size_t count = text == NULL ? 0 : arguments_count(text, command_line_read(text, COMMAND_LINE_BYTES_MAX));
    char **arguments = count == 0 ? NULL : calloc(count + 1, sizeof *arguments);
    if (arguments != NULL)
        arguments_split(text, count, arguments);
    return arguments;
}

/* Comes back only when it fails; then the process goes on with all its cores. */
static void start_anew(const struct plan *plan, const cpu_set_t *mask)
{
    char cores[LIST_BYTES];
    char engine[LIST_BYTES + 32];
    char threads[32];
    base_cores_format(&plan->engine, cores, sizeof cores);
    snprintf(engine, sizeof engine, "%s=%s", BASE_CORES_VARIABLE, cores);
    snprintf(threads, sizeof threads, "OMP_NUM_THREADS=%d", openmp_threads(&plan->program));
    char **arguments = arguments_read();
    char **environment = environment_with(engine, threads);
    if (arguments == NULL || environment == NULL)
        return;
    sched_setaffinity(0, sizeof plan->program, &plan->program);
    execve("/proc/self/exe", arguments, environment);
    sched_setaffinity(0, sizeof *mask, mask);
}

static void fall_back(void)
{
    setenv(BASE_CORES_VARIABLE, "", 1);
    options.progress = OPTION_PROGRESS_AUTO; /* a spinning engine on the program's core would halve its speed */
}

void lib_dedicate_core(void)
{
    cpu_set_t mask;
    const char *planned = getenv(BASE_CORES_VARIABLE);
    if (planned != NULL && strcmp(planned, BASE_CORES_AUTO) == 0)
        planned = NULL; /* a core of its own is more than one that others leave */
    if (options.progress != OPTION_PROGRESS_DEDICATED || base_launch_rank() == NULL)
        return;
    if (planned != NULL && planned[0] != '\0')
        return;
    if (planned == NULL && base_cores_allowed(&mask)) {
        struct plan plan = plan_cores(&mask, local_ranks(), sysconf(_SC_NPROCESSORS_ONLN), siblings_read);
        plan_print(&plan, strcmp(base_launch_rank(), "0") == 0);
        if (plan.refusal == NULL)
            start_anew(&plan, &mask);
    }
    fall_back();
}
