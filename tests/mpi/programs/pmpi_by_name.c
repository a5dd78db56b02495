/* SPDX-License-Identifier: MIT */
/* Claim: a program that gets PMPI functions by name in the middle of a run, or MPI's own by the library's handle, or by
 * a plugin that is opened with RTLD_DEEPBIND, and calls them, loses no message and is told the right counts.
 * plugin: yes
 * flags: -ldl
 * arguments: profiling handle deep deep_lazy
 * defers: receive */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>

#include "check.h"

struct functions {
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    int (*receive)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
    int (*get_count)(const MPI_Status *, MPI_Datatype, int *);
};

#if defined(PLUGIN)
/* Calls, whose places may be filled at the first one. */
static int plugin_send(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm)
{
    return MPI_Send(buffer, count, type, peer, tag, comm);
}

static int plugin_receive(void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Status *got)
{
    return MPI_Recv(buffer, count, type, peer, tag, comm, got);
}

static int plugin_get_count(const MPI_Status *status, MPI_Datatype type, int *count)
{
    return MPI_Get_count(status, type, count);
}

struct functions plugin_functions(void)
{
    return (struct functions){plugin_send, plugin_receive, plugin_get_count};
}
#else

enum { ROUNDS = 20, PATH_BYTES = 4096, HALF = CHECK_LARGE_BYTES / 2 };

static unsigned char *sent, *received;
static struct functions mpi;

static struct functions find_by_name(void *handle, const char *prefix)
{
    struct functions found;
    char name[32];
    snprintf(name, sizeof name, "%sMPI_Send", prefix);
    *(void **)&found.send = dlsym(handle, name);
    snprintf(name, sizeof name, "%sMPI_Recv", prefix);
    *(void **)&found.receive = dlsym(handle, name);
    snprintf(name, sizeof name, "%sMPI_Get_count", prefix);
    *(void **)&found.get_count = dlsym(handle, name);
    return found;
}

static int note_library(struct dl_phdr_info *info, size_t size_bytes, void *path)
{
    (void)size_bytes;
    const char *name = strrchr(info->dlpi_name, '/');
    if (name != NULL && strncmp(name, "/libmpi", 7) == 0)
        snprintf(path, PATH_BYTES, "%s", info->dlpi_name);
    return name != NULL && strncmp(name, "/libmpi", 7) == 0;
}

static struct functions find_by_handle(void)
{
    char path[PATH_BYTES] = "";
    dl_iterate_phdr(note_library, path);
    return find_by_name(dlopen(path, RTLD_NOW), "");
}

static struct functions find_by_plugin(const char *program, int flags)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s_plugin.so", program);
    void *plugin = dlopen(path, flags | RTLD_DEEPBIND);
    check(plugin != NULL, "the plugin is there");
    struct functions (*get)(void) = (struct functions(*)(void))dlsym(plugin, "plugin_functions");
    return get();
}

static void find_functions(const char *way, const char *program)
{
    if (strcmp(way, "handle") == 0)
        mpi = find_by_handle();
    else if (strcmp(way, "profiling") == 0)
        mpi = find_by_name(RTLD_DEFAULT, "P");
    else
        mpi = find_by_plugin(program, strcmp(way, "deep") == 0 ? RTLD_NOW : RTLD_LAZY);
    check(mpi.send != NULL && mpi.receive != NULL && mpi.get_count != NULL, "the functions are there");
}

static void give(unsigned round)
{
    check_delay();
    check_fill(sent, CHECK_LARGE_BYTES, round);
    check_send(sent, HALF, 0, 1);
    check(mpi.receive(received, CHECK_LARGE_BYTES, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS,
          "PMPI");
    check(check_is_filled(received, CHECK_LARGE_BYTES, round + 1), "what came back");
}

static void take(unsigned round)
{
    int count = -1;
    MPI_Status status;
    MPI_Recv(received, CHECK_LARGE_BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &status);
    check(mpi.get_count(&status, MPI_BYTE, &count) == MPI_SUCCESS && count == HALF, "the count");
    check(check_is_filled(received, HALF, round), "the message");
    check_fill(sent, CHECK_LARGE_BYTES, round + 1);
    check(mpi.send(sent, CHECK_LARGE_BYTES, MPI_BYTE, 1, 2, MPI_COMM_WORLD) == MPI_SUCCESS, "PMPI_Send");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    sent = check_buffer_new(CHECK_LARGE_BYTES);
    received = check_buffer_new(CHECK_LARGE_BYTES);
    unsigned char *first = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 0)
        check_recv(first, CHECK_LARGE_BYTES, 1, 0);
    else
        check_send_late(first, CHECK_LARGE_BYTES, 7, 0, 0);
    find_functions(argc > 1 ? argv[1] : "profiling", argv[0]);
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (check_rank() == 0)
            take(round);
        else
            give(round);
    }
    check(check_is_filled(first, CHECK_LARGE_BYTES, 7), "the first message");
    return check_end();
}
#endif
