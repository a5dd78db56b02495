/* SPDX-License-Identifier: MIT */
/* Claim: sums of integers and of floating-point numbers have the bits that MPI's own have, in place or not, with what
 * is sent unchanged.
 * arguments: short int unsigned long int64 char float double
 * environment: LAPWING_REDUCTIONS=any
 * defers: collective
 * ranks: 2
 * timeout: 120 */
#include <stdint.h>

#include "check.h"

enum { BYTES = 1000008, ROUNDS = 8 };

static const struct type {
    const char *name;
    MPI_Datatype datatype;
    int bytes;
} * type;

static int count;

static void set(void *buffer, int i, int round, int rank)
{
    int value = (round * 7919 + rank * 104729 + i * 31) % 40 - 17;
    if (strcmp(type->name, "float") == 0)
        ((float *)buffer)[i] = (float)value / 3;
    else if (strcmp(type->name, "double") == 0)
        ((double *)buffer)[i] = (double)value / 3;
    else if (type->bytes == 1)
        ((int8_t *)buffer)[i] = (int8_t)value;
    else if (type->bytes == 2)
        ((int16_t *)buffer)[i] = (int16_t)value;
    else if (type->bytes == 4)
        ((int32_t *)buffer)[i] = value;
    else
        ((int64_t *)buffer)[i] = (int64_t)value << 33;
}

static void fill(void *buffer, int round, int rank)
{
    for (int i = 0; i < count; i++)
        set(buffer, i, round, rank);
}

/* What MPI adds up on one rank. */
static void add_up(void *sum, void *next, int round)
{
    fill(sum, round, check_size() - 1);
    for (int rank = check_size() - 2; rank >= 0; rank--) {
        fill(next, round, rank);
        MPI_Reduce_local(next, sum, count, type->datatype, MPI_SUM);
    }
}

static void choose_type(const char *name)
{
    static struct type types[] = {{"short", 0, 2}, {"int", 0, 4},  {"unsigned", 0, 4}, {"long", 0, 8},
                                  {"int64", 0, 8}, {"char", 0, 1}, {"float", 0, 4},    {"double", 0, 8}};
    const MPI_Datatype datatypes[] = {MPI_SHORT,   MPI_INT,         MPI_UNSIGNED, MPI_LONG,
                                      MPI_INT64_T, MPI_SIGNED_CHAR, MPI_FLOAT,    MPI_DOUBLE};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        types[i].datatype = datatypes[i];
        if (strcmp(types[i].name, name) == 0)
            type = &types[i];
    }
    count = BYTES / type->bytes;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    choose_type(argv[1]);
    unsigned char *sent = check_buffer_new(BYTES);
    unsigned char *received = check_buffer_new(BYTES);
    unsigned char *expected = check_buffer_new(BYTES);
    unsigned char *scratch = check_buffer_new(BYTES);
    for (int round = 0; round < ROUNDS; round++) {
        bool is_in_place = round % 2 != 0;
        fill(is_in_place ? received : sent, round, check_rank());
        MPI_Allreduce(is_in_place ? MPI_IN_PLACE : sent, received, count, type->datatype, MPI_SUM, MPI_COMM_WORLD);
        add_up(expected, scratch, round);
        check(memcmp(received, expected, BYTES) == 0, "the sums");
        fill(scratch, round, check_rank());
        check(is_in_place || memcmp(sent, scratch, BYTES) == 0, "what was sent");
    }
    return check_end();
}
