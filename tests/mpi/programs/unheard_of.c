/* SPDX-License-Identifier: MIT */
/* Claim: a function of the MPI library that no table has, be it linked, asked for by name, or called by a plugin, finds
 * the messages of before received and nobody else inside MPI; and what comes after it is passed.
 * library: yes
 * plugin: yes
 * flags: -ldl
 * arguments: linked lookup plugin
 * defers: receive
 * passes: extension */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"

enum { TAG = 5, OTHER_TAG = 6, PAUSE_US = 100000 };

struct seen {
    int begun;     /* receives with TAG that somebody made nonblocking ones of */
    int ended;     /* those that a test has found over */
    int intruders; /* tests by other threads while the function ran */
};

void MPIX_Lapwing_unheard_of(struct seen *result);

#if defined(LIBRARY)
/* Stands before the real MPI library in the process, and is taken for it, since it has what an MPI library has. What it
 * does not define comes from the real one. */
static _Thread_local bool is_inside;
static atomic_bool is_anybody_inside;
static atomic_int begun, ended, intruders;
static _Atomic(MPI_Request) pending;

int PMPI_Init(int *argc, char ***argv)
{
    int (*next)(int *, char ***) = (int (*)(int *, char ***))dlsym(RTLD_NEXT, "PMPI_Init");
    return next(argc, argv);
}

int PMPI_Irecv(void *buffer, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    int (*next)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) =
        (int (*)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))dlsym(RTLD_NEXT, "PMPI_Irecv");
    int result = next(buffer, count, datatype, source, tag, comm, request);
    if (tag == TAG) {
        begun++;
        pending = *request;
    }
    return result;
}

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    static int (*next)(MPI_Request *, int *, MPI_Status *);
    bool is_counted = begun > ended && *request == pending;
    if (next == NULL)
        next = (int (*)(MPI_Request *, int *, MPI_Status *))dlsym(RTLD_NEXT, "PMPI_Test");
    intruders += is_anybody_inside && !is_inside;
    int result = next(request, flag, status);
    ended += is_counted && *flag;
    return result;
}

void MPIX_Lapwing_unheard_of(struct seen *result)
{
    intruders = 0;
    is_inside = is_anybody_inside = true;
    *result = (struct seen){begun, ended, 0};
    usleep(PAUSE_US);
    is_inside = is_anybody_inside = false;
    result->intruders = intruders;
}
#elif defined(PLUGIN)
void plugin_call(struct seen *result)
{
    MPIX_Lapwing_unheard_of(result);
}
#else
typedef void unheard_fn(struct seen *result);

static unheard_fn *plugin_find(const char *program)
{
    char path[4096];
    snprintf(path, sizeof path, "%s_plugin.so", program);
    void *plugin = dlopen(path, RTLD_LAZY);
    return plugin == NULL ? NULL : (unheard_fn *)dlsym(plugin, "plugin_call");
}

static unheard_fn *find(const char *way, const char *program)
{
    if (strcmp(way, "plugin") == 0)
        return plugin_find(program);
    bool is_lookup = strcmp(way, "lookup") == 0;
    return is_lookup ? (unheard_fn *)dlsym(RTLD_DEFAULT, "MPIX_Lapwing_unheard_of") : MPIX_Lapwing_unheard_of;
}

static void send_all(unsigned char *message)
{
    for (unsigned round = 0; round < 2; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        check_send_late(message, CHECK_LARGE_BYTES, round, 0, TAG);
        check_delay();
        check_send(message, CHECK_LARGE_BYTES, 0, OTHER_TAG);
    }
}

/* Also with an operation of the program's own under way, which the engine assists. */
static struct seen receive(unsigned char *message, unsigned char *other, unheard_fn *unheard_of, unsigned round)
{
    struct seen seen;
    MPI_Request request;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Irecv(other, CHECK_LARGE_BYTES, MPI_BYTE, 1, OTHER_TAG, MPI_COMM_WORLD, &request);
    check_recv(message, CHECK_LARGE_BYTES, 1, TAG);
    unheard_of(&seen);
    check(check_is_filled(message, CHECK_LARGE_BYTES, round), "message");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(check_is_filled(other, CHECK_LARGE_BYTES, round), "other message");
    return seen;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *message = check_buffer_new(CHECK_LARGE_BYTES);
    unsigned char *other = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 1) {
        send_all(message);
        return check_end();
    }
    unheard_fn *unheard_of = find(argc > 1 ? argv[1] : "linked", argv[0]);
    check(unheard_of != NULL, "the function is there");
    struct seen first = receive(message, other, unheard_of, 0);
    struct seen second = receive(message, other, unheard_of, 1);
    check(first.ended == first.begun, "the message of before is received");
    check(first.intruders == 0 && second.intruders == 0, "nobody else is inside MPI");
    check(second.begun == first.begun, "what comes after it is passed");
    return check_end();
}
#endif
