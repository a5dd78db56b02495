/* SPDX-License-Identifier: MIT */
/* Claim: under MPI_THREAD_MULTIPLE what one thread has received may be given to any call by another, which takes over.
 * flags: -pthread
 * defers: receive
 * timeout: 20
 * environment: LAPWING_MATCH=off */
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

enum { PART = 48 * 4096, LENGTH = 2 * PART, SEED = 7 };

static unsigned char *buffer; /* of the pattern, on both ranks; on rank 0 as soon as it is received */
static unsigned char *result;
static MPI_Comm messages;
static MPI_Comm comm;
static MPI_File file;
static int rank;

static const int counts[] = {PART, PART};
static const int displs[] = {0, PART};

/* Has this rank, if it should, got `count` bytes of the pattern from `first` on? */
static void check_result(int at_rank, size_t first, size_t count)
{
    for (size_t i = 0; rank == at_rank && i < count; i++)
        check(result[i] == check_byte(first + i, SEED), "what was received arrives where it is passed on");
}

static void finish(MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void finish_persistent(MPI_Request *request)
{
    MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    MPI_Request_free(request);
}

static void pass_gather(void)
{
    MPI_Gather(buffer, LENGTH, MPI_BYTE, result, LENGTH, MPI_BYTE, 1, comm);
    check_result(1, 0, LENGTH);
}

static void pass_gatherv(void)
{
    static const int lengths[] = {LENGTH, LENGTH};
    static const int places[] = {0, LENGTH};
    bool is_root = rank == 1; /* elsewhere the lists mean nothing */
    MPI_Gatherv(buffer, LENGTH, MPI_BYTE, is_root ? result : NULL, is_root ? lengths : NULL, is_root ? places : NULL,
                is_root ? MPI_BYTE : MPI_DATATYPE_NULL, 1, comm);
    check_result(1, 0, LENGTH);
}

static void pass_igather(void)
{
    MPI_Request request;
    MPI_Igather(buffer, LENGTH, MPI_BYTE, result, LENGTH, MPI_BYTE, 1, comm, &request);
    finish(&request);
    check_result(1, 0, LENGTH);
}

static void pass_scatter(void)
{
    MPI_Scatter(buffer, PART, MPI_BYTE, result, PART, MPI_BYTE, 0, comm);
    check_result(1, PART, PART);
}

static void pass_scatterv(void)
{
    bool is_root = rank == 0;
    MPI_Scatterv(is_root ? buffer : NULL, is_root ? counts : NULL, is_root ? displs : NULL,
                 is_root ? MPI_BYTE : MPI_DATATYPE_NULL, result, PART, MPI_BYTE, 0, comm);
    check_result(1, PART, PART);
}

static void pass_iscatterv(void)
{
    MPI_Request request;
    MPI_Iscatterv(buffer, counts, displs, MPI_BYTE, result, PART, MPI_BYTE, 0, comm, &request);
    finish(&request);
    check_result(1, PART, PART);
}

static void pass_allgather(void)
{
    MPI_Allgather(buffer, LENGTH, MPI_BYTE, result, LENGTH, MPI_BYTE, comm);
    check_result(1, 0, LENGTH);
}

/* In place: the first part of the result is what was received. */
static void pass_allgatherv(void)
{
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, rank == 0 ? buffer : result, counts, displs, MPI_BYTE, comm);
    check_result(1, 0, PART);
}

static void pass_iallgather(void)
{
    MPI_Request request;
    MPI_Iallgather(buffer, LENGTH, MPI_BYTE, result, LENGTH, MPI_BYTE, comm, &request);
    finish(&request);
    check_result(1, 0, LENGTH);
}

static void pass_alltoall(void)
{
    MPI_Alltoall(buffer, PART, MPI_BYTE, result, PART, MPI_BYTE, comm);
    check_result(1, PART, PART);
}

static void pass_alltoallv(void)
{
    MPI_Alltoallv(buffer, counts, displs, MPI_BYTE, result, counts, displs, MPI_BYTE, comm);
    check_result(1, PART, PART);
}

static void pass_ialltoallv(void)
{
    MPI_Request request;
    MPI_Ialltoallv(buffer, counts, displs, MPI_BYTE, result, counts, displs, MPI_BYTE, comm, &request);
    finish(&request);
    check_result(1, PART, PART);
}

static void pass_reduce_scatter(void)
{
    MPI_Reduce_scatter(buffer, result, counts, MPI_BYTE, MPI_BOR, comm);
    check_result(1, PART, PART);
}

static void pass_reduce_scatter_block(void)
{
    MPI_Reduce_scatter_block(buffer, result, PART, MPI_BYTE, MPI_BOR, comm);
    check_result(1, PART, PART);
}

static void pass_iallreduce(void)
{
    MPI_Request request;
    MPI_Iallreduce(buffer, result, LENGTH, MPI_BYTE, MPI_BOR, comm, &request);
    finish(&request);
    check_result(1, 0, LENGTH);
}

static void pass_persistent(void)
{
    MPI_Request request;
    if (rank == 0)
        MPI_Send_init(buffer, LENGTH, MPI_BYTE, 1, 1, comm, &request);
    else
        MPI_Recv_init(result, LENGTH, MPI_BYTE, 0, 1, comm, &request);
    finish_persistent(&request);
    check_result(1, 0, LENGTH);
}

static void pass_alltoallw(void)
{
    MPI_Datatype types[] = {MPI_BYTE, MPI_BYTE};
    MPI_Alltoallw(buffer, counts, displs, types, result, counts, displs, types, comm);
    check_result(1, PART, PART);
}

/* Two processes in a ring: either is the other's neighbor on both sides. */
static void pass_neighbor(void)
{
    const int dims[] = {2};
    const int periods[] = {1};
    MPI_Comm ring;
    MPI_Cart_create(comm, 1, dims, periods, 0, &ring);
    MPI_Neighbor_alltoall(buffer, PART, MPI_BYTE, result, PART, MPI_BYTE, ring);
    MPI_Comm_free(&ring);
    for (size_t i = 0; rank == 1 && i < PART; i++)
        check(result[i] == check_byte(i, SEED) || result[i] == check_byte(PART + i, SEED), "a neighbor's part");
}

static void pass_neighborv(void)
{
    const int peer[] = {1 - rank};
    const int weight[] = {1};
    MPI_Comm pair;
    MPI_Dist_graph_create_adjacent(comm, 1, peer, weight, 1, peer, weight, MPI_INFO_NULL, 0, &pair);
    MPI_Neighbor_alltoallv(buffer, &counts[1], &displs[1], MPI_BYTE, result, counts, displs, MPI_BYTE, pair);
    MPI_Comm_free(&pair);
    check_result(1, PART, PART);
}

static void file_check(void)
{
    MPI_File_read_at(file, 0, result, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE);
    check_result(0, 0, LENGTH);
}

static void pass_file(void)
{
    if (rank != 0)
        return;
    MPI_File_write_at(file, 0, buffer, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE);
    file_check();
}

static void pass_file_started(void)
{
    MPI_Request request;
    if (rank != 0)
        return;
    MPI_File_iwrite_at(file, 0, buffer, LENGTH, MPI_BYTE, &request);
    finish(&request);
    file_check();
}

static void pass_window(void)
{
    MPI_Win window;
    MPI_Win_create(buffer, LENGTH, 1, MPI_INFO_NULL, comm, &window);
    MPI_Win_fence(0, window);
    if (rank == 1)
        MPI_Get(result, LENGTH, MPI_BYTE, 0, 0, LENGTH, MPI_BYTE, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    check_result(1, 0, LENGTH);
}

static void pass_pack(void)
{
    MPI_Aint position = 0;
    MPI_Pack_external("external32", buffer, LENGTH, MPI_BYTE, result, LENGTH, &position);
    check_result(0, 0, LENGTH);
}

/* Of blocks, by lists, started, by types, into files, and by windows: those last, as nothing is held once there is one.
 */
static void (*const kinds[])(void) = {
    pass_gather,       pass_scatter,   pass_allgather,  pass_alltoall,   pass_reduce_scatter_block,
    pass_gatherv,      pass_scatterv,  pass_allgatherv, pass_alltoallv,  pass_reduce_scatter,
    pass_igather,      pass_iscatterv, pass_iallgather, pass_ialltoallv, pass_iallreduce,
    pass_persistent,   pass_alltoallw, pass_neighbor,   pass_neighborv,  pass_file,
    pass_file_started, pass_pack,      pass_window,
};

static void *thread_receive(void *unused)
{
    (void)unused;
    MPI_Recv(buffer, LENGTH, MPI_BYTE, 1, 5, messages, MPI_STATUS_IGNORE);
    return NULL;
}

static void *thread_send(void *unused)
{
    (void)unused;
    check_delay(); /* rank 0 has given the buffer on */
    MPI_Send(buffer, LENGTH, MPI_BYTE, 0, 5, messages);
    return NULL;
}

static void run(void (*pass)(void))
{
    pthread_t thread;
    if (rank != 0)
        check_fill(buffer, LENGTH, SEED);
    else
        memset(buffer, 0, LENGTH);
    MPI_Barrier(comm);
    pthread_create(&thread, NULL, rank == 0 ? thread_receive : thread_send, NULL);
    if (rank == 0)
        pthread_join(thread, NULL);
    pass();
    if (rank != 0)
        pthread_join(thread, NULL);
}

/* Pages of their own: others are not held under MPI_THREAD_MULTIPLE. */
static unsigned char *pages_new(void)
{
    return mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void open_file(void)
{
    char path[] = "/tmp/lapwing-handed-XXXXXX";
    close(mkstemp(path));
    int mode = MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    check(MPI_File_open(MPI_COMM_SELF, path, mode, MPI_INFO_NULL, &file) == MPI_SUCCESS, "opening a file");
}

int main(int argc, char **argv)
{
    check_start_multiple(&argc, &argv);
    rank = check_rank();
    MPI_Comm_dup(MPI_COMM_WORLD, &messages);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    buffer = pages_new();
    open_file();
    result = check_buffer_new(2 * LENGTH);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        run(kinds[i]);
    MPI_File_close(&file);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&messages);
    free(result);
    munmap(buffer, LENGTH);
    return check_end();
}
