/* SPDX-License-Identifier: MIT */
/* Programs of known character, between two ranks.
 *
 *     characters --calibrate
 *     characters NAME UNITS SIZE ROUNDS
 *
 *     nonblocking   start, work, wait: computation between start and wait
 *     waiting       the same with a quarter of the work: most of the transfer is left to the wait
 *     bundled       starts, wait at once, work: nothing between start and wait, like NAS BT-MZ
 *     slack         blocking messages, work, touch
 *     tight         blocking messages that are touched at once, work
 *     small         64 blocking messages of SIZE / 1024 bytes, work
 *     uneven        as slack, and rank 1 works twice as long as rank 0
 *     collective    blocking MPI_Alltoall, work, touch
 *     in_order      blocking MPI_Bcast from each rank in turn, work that reads or writes its data in order
 *
 * The work is a fixed number of units in every round. Each rank prints one line of JSON:
 * the time from MPI_Init to MPI_Finalize, and the sum of the bytes that it looked at. */
#include "measure.h"

#include <mpi.h>

enum { TAG = 1, BUNDLE = 4, SMALL_COUNT = 64, SMALL_PART = 1024, STEPS = 64 };

struct setting {
    char *out, *in;
    long units;
    int size, rank, peer;
};

struct character {
    const char *name;
    void (*round)(const struct setting *setting, int round);
};

static unsigned long checksum;

static void write_byte(char *buffer, int size)
{
    buffer[size / 2]++;
}

static void read_byte(const char *buffer, int size)
{
    checksum += (unsigned char)buffer[size / 2];
}

static void exchange(const struct setting *setting, long units_beside)
{
    MPI_Request requests[2];
    MPI_Irecv(setting->in, setting->size, MPI_BYTE, setting->peer, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(setting->out, setting->size, MPI_BYTE, setting->peer, TAG, MPI_COMM_WORLD, &requests[1]);
    measure_work(units_beside);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    write_byte(setting->out, setting->size);
    read_byte(setting->in, setting->size);
    measure_work(setting->units / 4);
}

static void nonblocking_round(const struct setting *setting, int round)
{
    (void)round;
    exchange(setting, setting->units);
}

static void waiting_round(const struct setting *setting, int round)
{
    (void)round;
    exchange(setting, setting->units / 4);
}

static void bundled_round(const struct setting *setting, int round)
{
    (void)round;
    MPI_Request requests[2 * BUNDLE];
    int part = setting->size / BUNDLE;
    for (int i = 0; i < BUNDLE; i++) {
        char *in = setting->in + i * part, *out = setting->out + i * part;
        MPI_Irecv(in, part, MPI_BYTE, setting->peer, i, MPI_COMM_WORLD, &requests[2 * i]);
        MPI_Isend(out, part, MPI_BYTE, setting->peer, i, MPI_COMM_WORLD, &requests[2 * i + 1]);
    }
    MPI_Waitall(2 * BUNDLE, requests, MPI_STATUSES_IGNORE);
    write_byte(setting->out, setting->size);
    read_byte(setting->in, setting->size);
    measure_work(setting->units);
}

/* The ranks take turns in sending; what a rank works before and after the touch is its own. */
static void one_way(const struct setting *setting, int round, long units_before, long units_after)
{
    int is_sender = round % 2 == setting->rank;
    if (is_sender)
        MPI_Send(setting->out, setting->size, MPI_BYTE, setting->peer, TAG, MPI_COMM_WORLD);
    else
        MPI_Recv(setting->in, setting->size, MPI_BYTE, setting->peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    measure_work(units_before);
    if (is_sender)
        write_byte(setting->out, setting->size);
    else
        read_byte(setting->in, setting->size);
    measure_work(units_after);
}

static void slack_round(const struct setting *setting, int round)
{
    one_way(setting, round, setting->units, setting->units / 4);
}

static void tight_round(const struct setting *setting, int round)
{
    one_way(setting, round, 0, setting->units);
}

static void uneven_round(const struct setting *setting, int round)
{
    long units = setting->units * (1 + setting->rank) / 2;
    one_way(setting, round, units, units / 4);
}

static void small_round(const struct setting *setting, int round)
{
    struct setting part = *setting;
    part.size = setting->size / SMALL_PART;
    for (int i = 0; i < SMALL_COUNT; i++)
        one_way(&part, round + i, 0, 0);
    measure_work(setting->units);
}

static void collective_round(const struct setting *setting, int round)
{
    (void)round;
    int block = setting->size / 2;
    MPI_Alltoall(setting->out, block, MPI_BYTE, setting->in, block, MPI_BYTE, MPI_COMM_WORLD);
    measure_work(setting->units);
    write_byte(setting->out, setting->size);
    read_byte(setting->in, setting->size);
    measure_work(setting->units / 4);
}

static void in_order_round(const struct setting *setting, int round)
{
    int root = round % 2, step = setting->size / STEPS;
    char *buffer = root == setting->rank ? setting->out : setting->in;
    MPI_Bcast(buffer, setting->size, MPI_BYTE, root, MPI_COMM_WORLD);
    for (int i = 0; i < STEPS; i++) {
        if (root == setting->rank)
            write_byte(buffer + i * step, step);
        else
            read_byte(buffer + i * step, step);
        measure_work(setting->units / STEPS);
    }
    measure_work(setting->units / 4);
}

static const struct character characters[] = {
    {"nonblocking", nonblocking_round},
    {"waiting", waiting_round},
    {"bundled", bundled_round},
    {"slack", slack_round},
    {"tight", tight_round},
    {"small", small_round},
    {"uneven", uneven_round},
    {"collective", collective_round},
    {"in_order", in_order_round},
};

static const struct character *find_character(const char *name)
{
    for (size_t i = 0; i < sizeof(characters) / sizeof(*characters); i++)
        if (strcmp(characters[i].name, name) == 0)
            return &characters[i];
    return NULL;
}

static void run(const struct character *character, struct setting *setting, int rounds)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &setting->rank);
    setting->peer = 1 - setting->rank;
    double begin_us = measure_now_us();
    for (int i = 0; i < rounds; i++)
        character->round(setting, i);
    printf("{\"rank\": %d, \"elapsed_us\": %.1f, \"checksum\": %lu}\n", setting->rank, measure_now_us() - begin_us,
           checksum);
    fflush(stdout);
}

static int usage(void)
{
    fprintf(stderr, "usage, on 2 ranks: characters NAME UNITS SIZE ROUNDS\n");
    return 1;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--calibrate") == 0)
        return measure_calibrate();
    const struct character *character = argc == 5 ? find_character(argv[1]) : NULL;
    if (!character)
        return usage();
    struct setting setting = {.units = atol(argv[2]), .size = atoi(argv[3])};
    setting.out = measure_buffer((size_t)setting.size, 1);
    setting.in = measure_buffer((size_t)setting.size, 2);
    MPI_Init(&argc, &argv);
    run(character, &setting, atoi(argv[4]));
    MPI_Finalize();
    return 0;
}
