/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, MAPPED_FROM_BYTES = 65536 };

/* Large blocks get mappings of their own, as longer ones do by themselves, so that receives into them are held. */
static void blocks_map(void)
{
    mallopt(M_MMAP_THRESHOLD, MAPPED_FROM_BYTES);
}

void check_start(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    blocks_map();
}

void check_start_multiple(int *argc, char ***argv)
{
    int provided;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    blocks_map();
    if (provided == MPI_THREAD_MULTIPLE)
        return;
    MPI_Finalize();
    exit(check_skip("this MPI does not provide MPI_THREAD_MULTIPLE"));
}

int check_skip(const char *reason)
{
    enum { SKIPPED = 77 }; /* what the runner takes for a skipped case */
    puts(reason);
    return SKIPPED;
}

MPI_Comm check_spawn(char *program)
{
    MPI_Comm child;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child, MPI_ERRCODES_IGNORE) ==
        MPI_SUCCESS)
        return child;
    puts("this MPI cannot spawn");
    MPI_Finalize();
    exit(77);
}

void check_spawned(MPI_Comm between)
{
    /* MPICH 5.0's MPI_Comm_disconnect and MPI_Finalize do not wait for those who are still connecting to the process,
     * and whose MPI_Comm_spawn or MPI_Init then fails: on a busy host in one of some tens of jobs, without Lapwing,
     * too. */
    MPI_Barrier(between);
}

static void play_merged(MPI_Comm between, bool is_child, void (*play)(MPI_Comm all))
{
    MPI_Comm all;
    MPI_Intercomm_merge(between, is_child, &all);
    play(all);
    /* MPICH 5.0's MPI_Comm_disconnect and MPI_Finalize do not wait until a small message has reached a spawned process:
     * without Lapwing, too, the last of a hundred sent to one that sleeps is lost, and its receive waits for ever. */
    MPI_Barrier(all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&between);
}

int check_with_spawned(int argc, char **argv, void (*play)(MPI_Comm all))
{
    MPI_Comm parent;
    check_start(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        play_merged(check_spawn(argv[0]), false, play);
        return check_end();
    }
    play_merged(parent, true, play);
    MPI_Finalize();
    return 0;
}

int check_end(void)
{
    if (check_rank() == 0)
        printf("ok\n");
    fflush(stdout);
    MPI_Finalize();
    return 0;
}

int check_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int check_size(void)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

void check(bool is_true, const char *claim)
{
    if (is_true)
        return;
    fprintf(stderr, "FAILED: %s\n", claim);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 9);
}

int check_class(int error)
{
    int class;
    MPI_Error_class(error, &class);
    return class;
}

int check_class_or_late(int error, MPI_Comm comm)
{
    int is_found;
    int late = MPI_Iprobe(MPI_PROC_NULL, 0, comm, &is_found, MPI_STATUS_IGNORE);
    return check_class(error != MPI_SUCCESS ? error : late);
}

unsigned char check_byte(size_t i, unsigned seed)
{
    unsigned mixed = ((unsigned)i + seed * 40503u) * 2654435761u;
    return (unsigned char)(mixed >> 19);
}

void check_fill(void *buffer, size_t length_bytes, unsigned seed)
{
    unsigned char *bytes = buffer;
    for (size_t i = 0; i < length_bytes; i++)
        bytes[i] = check_byte(i, seed);
}

bool check_is_filled(const void *buffer, size_t length_bytes, unsigned seed)
{
    const unsigned char *bytes = buffer;
    for (size_t i = 0; i < length_bytes; i++) {
        if (bytes[i] != check_byte(i, seed))
            return false;
    }
    return true;
}

unsigned char *check_buffer_new(size_t length_bytes)
{
    size_t whole_bytes = (length_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    unsigned char *buffer = aligned_alloc(PAGE_BYTES, whole_bytes);
    memset(buffer, 0xEE, length_bytes);
    return buffer;
}

void check_delay(void)
{
    struct timespec pause = {0, 30 * 1000 * 1000};
    while (nanosleep(&pause, &pause) != 0 && errno == EINTR)
        ; /* a timer's signal ends each sleep: sleep what is left */
}

static bool thread_begins(const char *thread, const char *prefix)
{
    char path[512], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", thread);
    FILE *file = fopen(path, "r");
    bool is_read = file != NULL && fgets(name, sizeof name, file) != NULL;
    if (file != NULL)
        fclose(file);
    return is_read && strncmp(name, prefix, strlen(prefix)) == 0;
}

bool check_has_thread(const char *prefix)
{
    bool is_found = false;
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *thread; threads != NULL && (thread = readdir(threads)) != NULL;)
        is_found |= thread_begins(thread->d_name, prefix);
    if (threads != NULL)
        closedir(threads);
    return is_found;
}

bool check_has_keys(void)
{
    static char line[1 << 14];
    FILE *file = fopen("/proc/cpuinfo", "r");
    bool has_keys = false;
    while (file != NULL && !has_keys && fgets(line, sizeof line, file) != NULL)
        has_keys = strncmp(line, "flags", 5) == 0 && strstr(line, " ospke") != NULL;
    if (file != NULL)
        fclose(file);
    return has_keys;
}

unsigned long check_addresses_bytes(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    check(file != NULL && fscanf(file, "%lu", &pages) == 1, "/proc/self/statm");
    fclose(file);
    return pages * (unsigned long)sysconf(_SC_PAGESIZE);
}

int check_pipe(void)
{
    char name[] = "/tmp/check_pipe_XXXXXX/pipe";
    char *file = strrchr(name, '/');
    *file = 0;
    if (check_rank() == 0) {
        check(mkdtemp(name) != NULL, "a folder");
        *file = '/';
        check(mkfifo(name, 0600) == 0, "a pipe");
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    int ends = open(name, O_RDWR);
    check(ends >= 0, "opening");
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 0) {
        unlink(name);
        *file = 0;
        rmdir(name);
    }
    return ends;
}

void check_send(const void *buffer, size_t length_bytes, int peer, int tag)
{
    MPI_Send(buffer, (int)length_bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
}

void check_recv(void *buffer, size_t length_bytes, int peer, int tag)
{
    MPI_Recv(buffer, (int)length_bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void check_send_late(void *buffer, size_t length_bytes, unsigned seed, int peer, int tag)
{
    check_delay();
    check_fill(buffer, length_bytes, seed);
    check_send(buffer, length_bytes, peer, tag);
}

void check_exchange_late(void *buffer, size_t length_bytes, unsigned seed, int tag)
{
    if (check_rank() == 1) {
        check_send_late(buffer, length_bytes, seed, 0, tag);
        return;
    }
    check_recv(buffer, length_bytes, 1, tag);
    check(check_is_filled(buffer, length_bytes, seed), "the message");
}

void check_recv_late(void *buffer, size_t length_bytes, unsigned seed, int peer, int tag, const char *claim)
{
    check_delay();
    check_recv(buffer, length_bytes, peer, tag);
    check(check_is_filled(buffer, length_bytes, seed), claim);
}

void check_echo(void *buffer, size_t length_bytes, unsigned seed)
{
    if (check_rank() == 0) {
        check_fill(buffer, length_bytes, seed);
        check_send(buffer, length_bytes, 1, 0);
        memset(buffer, 0xEE, length_bytes);
        check_recv(buffer, length_bytes, 1, 1);
        check(check_is_filled(buffer, length_bytes, seed + 1), "the answer arrived");
        return;
    }
    check_recv(buffer, length_bytes, 0, 0);
    check(check_is_filled(buffer, length_bytes, seed), "the message arrived");
    check_fill(buffer, length_bytes, seed + 1);
    check_send(buffer, length_bytes, 0, 1);
}

static void recv_persistent(void *buffer, int length_bytes, int tag, MPI_Comm comm)
{
    MPI_Request request;
    MPI_Recv_init(buffer, length_bytes, MPI_BYTE, 1, tag, comm, &request);
    check_delay();
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

bool check_recv_by_handle(const char *way, void *buffer, size_t length_bytes, int tag, MPI_Comm comm)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    int is_found = strcmp(way, "improbe") != 0;
    if (strcmp(way, "recv_init") == 0) {
        recv_persistent(buffer, (int)length_bytes, tag, comm);
        return true;
    }
    if (strcmp(way, "mprobe") == 0)
        MPI_Mprobe(1, tag, comm, &message, MPI_STATUS_IGNORE);
    while (!is_found)
        MPI_Improbe(MPI_ANY_SOURCE, tag, comm, &is_found, &message, MPI_STATUS_IGNORE);
    if (message == MPI_MESSAGE_NULL)
        return false;
    MPI_Mrecv(buffer, (int)length_bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    return true;
}

void check_found_after_recv(const char *claim, int way, void (*leave)(int way), bool (*is_found)(int way),
                            unsigned char *message, size_t length_bytes)
{
    char numbered[128];
    snprintf(numbered, sizeof numbered, "%s (way %d)", claim, way);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 1) {
        check_delay();
        leave(way);
        check_send(message, length_bytes, 0, way);
        return;
    }
    check_recv(message, length_bytes, 1, way);
    check(is_found(way), numbered);
}
