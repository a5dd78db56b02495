/* SPDX-License-Identifier: MIT */
/* Claim: vectors, subarrays, indexed and nested types with gaps return early, in both
 * directions; the gaps keep what the program wrote there before.
 * defers: send receive
 * passes: nothing */
#include "check.h"

enum { ROWS = 256, COLUMNS = 512, INTS = ROWS * COLUMNS };

static MPI_Datatype structs_type(void)
{
    /* Two ints of every four, as the members of a C struct. */
    int lengths[] = {1, 1};
    MPI_Aint displacements[] = {0, 12};
    MPI_Datatype types[] = {MPI_INT, MPI_INT}, pair, pairs;
    MPI_Type_create_struct(2, lengths, displacements, types, &pair);
    MPI_Type_contiguous(INTS / 4, pair, &pairs);
    MPI_Type_free(&pair);
    return pairs;
}

static MPI_Datatype hvector_type(void)
{
    MPI_Datatype row, rows;
    MPI_Type_contiguous(COLUMNS / 2, MPI_INT, &row);
    MPI_Type_create_hvector(ROWS, 1, sizeof(int) * COLUMNS, row, &rows);
    MPI_Type_free(&row);
    return rows;
}

static MPI_Datatype indexed_type(void)
{
    static int lengths[ROWS], displacements[ROWS];
    MPI_Datatype indexed;
    for (int i = 0; i < ROWS; i++) {
        lengths[i] = COLUMNS / 2 + i % 7;
        displacements[i] = i * COLUMNS + i % 3;
    }
    MPI_Type_indexed(ROWS, lengths, displacements, MPI_INT, &indexed);
    return indexed;
}

static MPI_Datatype subarray_type(void)
{
    int sizes[] = {ROWS, COLUMNS}, parts[] = {ROWS - 10, COLUMNS - 30}, starts[] = {5, 7};
    MPI_Datatype made;
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &made);
    return made;
}

static MPI_Datatype vector_type(void)
{
    MPI_Datatype made;
    MPI_Type_vector(ROWS, COLUMNS / 2, COLUMNS, MPI_INT, &made);
    return made;
}

static unsigned char *make_mask(MPI_Datatype type, int size)
{
    unsigned char *mask = calloc(INTS, sizeof(int));
    unsigned char *ones = malloc(size);
    int position = 0;
    memset(ones, 1, size);
    MPI_Unpack(ones, size, &position, mask, 1, type, MPI_COMM_SELF);
    free(ones);
    return mask;
}

static void exchange(unsigned char *buffer, MPI_Datatype type)
{
    int size;
    MPI_Type_commit(&type);
    MPI_Type_size(type, &size);
    unsigned char *mask = make_mask(type, size);
    for (unsigned i = 0; i < 6; i++) {
        check_fill(buffer, sizeof(int) * INTS, 2 * i + check_rank());
        if (check_rank() == (int)(i % 2))
            MPI_Send(buffer, 1, type, 1 - check_rank(), 0, MPI_COMM_WORLD);
        else
            MPI_Recv(buffer, 1, type, 1 - check_rank(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (check_rank() == (int)(i % 2))
            memset(buffer, 0, sizeof(int) * INTS); /* waits */
        for (size_t at = 0; check_rank() != (int)(i % 2) && at < sizeof(int) * INTS; at++)
            check(buffer[at] == check_byte(at, 2 * i + (mask[at] ? 1 - check_rank() : check_rank())), "data and gaps");
    }
    free(mask);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(sizeof(int) * INTS);
    exchange(buffer, vector_type());
    exchange(buffer, subarray_type());
    exchange(buffer, indexed_type());
    exchange(buffer, hvector_type());
    exchange(buffer, structs_type());
    return check_end();
}
