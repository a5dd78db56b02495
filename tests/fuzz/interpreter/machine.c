/* SPDX-License-Identifier: MIT */
/* machine <programs> <results> [trace] [level]: runs all programs of a file, and
 * writes one line per program and rank: its seed and the digest of what was seen. */
#include "machine.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int machine_rank;
_Thread_local bool machine_is_traced;
_Thread_local uint64_t machine_digest;

static int results = -1;
static long line_number;

__attribute__((format(printf, 1, 2))) static void results_write(const char *format, ...)
{
    char line[160];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (write(results, line, (size_t)length) != length)
        machine_refuse("the results cannot be written");
}

static void digest_add(uint64_t seen)
{
    uint64_t mixed = (machine_digest ^ seen) * 0x9e3779b97f4a7c15u;
    machine_digest = mixed ^ (mixed >> 29);
}

void machine_observe(uint64_t seen)
{
    if (machine_is_traced)
        results_write("%ld saw %lld\n", line_number, (long long)seen);
    digest_add(seen);
}

void machine_observe_bytes(const void *bytes, size_t length_bytes)
{
    const unsigned char *at = bytes;
    for (; length_bytes >= 8; at += 8, length_bytes -= 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        digest_add(word);
    }
    for (; length_bytes > 0; at++, length_bytes--)
        digest_add(*at);
}

void machine_observe_result(int result)
{
    int error_class = MPI_SUCCESS;
    if (result != MPI_SUCCESS)
        MPI_Error_class(result, &error_class);
    machine_observe((uint64_t)error_class);
}

_Noreturn void machine_refuse(const char *why)
{
    fprintf(stderr, "rank %d, line %ld: %s\n", machine_rank, line_number, why);
    MPI_Abort(MPI_COMM_WORLD, 3);
    _exit(3);
}

static instruction_fn *machine_find_in(const struct instruction *table, const char *name)
{
    for (; table->name; table++) {
        if (strcmp(table->name, name) == 0)
            return table->run;
    }
    return NULL;
}

instruction_fn *machine_find(const char *name)
{
    static const struct instruction *const tables[] = {memory_instructions, message_instructions, request_instructions,
                                                       collective_instructions, type_instructions};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        instruction_fn *run = machine_find_in(tables[i], name);
        if (run)
            return run;
    }
    machine_refuse(name);
}

/* Numbers up to the end of the line. */
static int arguments_read(char *text, int64_t *arguments)
{
    int count = 0;
    char *end = text;
    for (arguments[0] = strtoll(text, &end, 10); end != text; arguments[count] = strtoll(text, &end, 10)) {
        text = end;
        if (++count == ARGUMENTS_MAX)
            machine_refuse("too many arguments");
    }
    return count;
}

static void instruction_run(char *name)
{
    int64_t arguments[ARGUMENTS_MAX] = {0};
    bool is_job = strncmp(name, "job ", 4) == 0; /* for the helper thread */
    name += is_job ? 4 : 0;
    size_t length = strcspn(name, " ");
    char *rest = name[length] ? name + length + 1 : name + length;
    name[length] = '\0';
    instruction_fn *run = machine_find(name);
    int count = arguments_read(rest, arguments);
    if (is_job)
        helper_start(run, arguments, count);
    else
        run(arguments);
    if (machine_is_traced)
        results_write("%ld %s %016llx\n", line_number, name, (unsigned long long)machine_digest);
}

static void program_begin(const char *line)
{
    results_write("begin %s\n", line);
    machine_digest = 0xcbf29ce484222325u;
    memory_begin();
    types_begin();
    comms_begin();
    requests_begin();
    statuses_begin();
}

static void program_end(const char *seed)
{
    helper_end();
    memory_end();
    types_end();
    comms_end();
    MPI_Barrier(MPI_COMM_WORLD);
    results_write("end %s %016llx\n", seed, (unsigned long long)machine_digest);
}

/* "<rank> <group> <instruction>"; the group is for the minimiser only. */
static void line_run(char *line)
{
    char *rest;
    if (strncmp(line, "program ", 8) == 0) {
        program_begin(line + 8);
        return;
    }
    if (strncmp(line, "end ", 4) == 0) {
        program_end(line + 4);
        return;
    }
    if (line[0] == '#' || strtol(line, &rest, 10) != machine_rank)
        return;
    strtol(rest, &rest, 10);
    instruction_run(rest + 1);
}

static char *file_read(const char *path)
{
    struct stat facts;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &facts) != 0)
        machine_refuse("the programs cannot be opened");
    char *text = malloc((size_t)facts.st_size + 1);
    if (!text || read(file, text, (size_t)facts.st_size) != facts.st_size)
        machine_refuse("the programs cannot be read");
    text[facts.st_size] = '\0';
    close(file);
    return text;
}

static void programs_run(char *text)
{
    _Alignas(max_align_t) unsigned char stack_bytes[MACHINE_STACK_BYTES];
    memory_stack_set(stack_bytes);
    for (char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        *end = '\0';
        line_number++;
        line_run(text);
    }
}

static void results_open(const char *prefix)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.%d", prefix, machine_rank);
    results = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (results < 0)
        machine_refuse("the results cannot be opened");
}

static int level_read(const char *name)
{
    if (strcmp(name, "multiple") == 0)
        return MPI_THREAD_MULTIPLE;
    return strcmp(name, "funneled") == 0 ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE;
}

int main(int argc, char **argv)
{
    int provided, level = level_read(argc > 4 ? argv[4] : "single");
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &machine_rank);
    if (provided < level)
        machine_refuse("MPI does not offer this thread level");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    results_open(argv[2]);
    machine_is_traced = argc > 3 && strcmp(argv[3], "trace") == 0;
    programs_run(file_read(argv[1]));
    results_write("done\n");
    MPI_Finalize();
    return 0;
}
