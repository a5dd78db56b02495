/* SPDX-License-Identifier: MIT */
/* Claim: a rank that cannot return early from a collective matches those that do: it names the data by a type with
 * gaps or in another order, has no memory that can be held, is sending the same memory, or has paused Lapwing.
 * defers: collective */
#include "check.h"

enum { COUNT = 200000, ROUNDS = 5 };

static double *plain;
static double *wide; /* every second one */
static MPI_Datatype every_second;

static void expect(const double *numbers, int stride, int round, const char *claim)
{
    for (int i = 0; i < COUNT; i++)
        check(numbers[i * stride] == round + i, claim);
}

static void broadcast_typed(int round, int root)
{
    bool is_root = check_rank() == root;
    for (int i = 0; i < COUNT; i++) {
        plain[i] = is_root ? round + i : -1;
        wide[2 * i] = plain[i];
        wide[2 * i + 1] = -5;
    }
    if (check_rank() == 0)
        MPI_Bcast(wide, 1, every_second, root, MPI_COMM_WORLD);
    else
        MPI_Bcast(plain, COUNT, MPI_DOUBLE, root, MPI_COMM_WORLD);
    if (check_rank() == 0)
        expect(wide, 2, round, "by a type with gaps");
    else
        expect(plain, 1, round, "its peer's");
    check(wide[1] == -5 && wide[2 * COUNT - 1] == -5, "what lies in the gaps stays");
}

/* As large as its extent, and in another order (MPI 4.1, 5.1.14: transposing a matrix). */
static MPI_Datatype transposed_new(int length)
{
    MPI_Datatype column;
    MPI_Datatype transposed;
    MPI_Type_vector(length, 1, length, MPI_DOUBLE, &column);
    MPI_Type_create_hvector(length, 1, sizeof(double), column, &transposed);
    MPI_Type_commit(&transposed);
    MPI_Type_free(&column);
    return transposed;
}

static void broadcast_transposed(int round)
{
    enum { LENGTH = 400 };
    MPI_Datatype transposed = transposed_new(LENGTH);
    for (int i = 0; i < LENGTH * LENGTH; i++)
        plain[i] = check_rank() == 0 ? round + i : -1;
    if (check_rank() == 0)
        MPI_Bcast(plain, 1, transposed, 0, MPI_COMM_WORLD);
    else
        MPI_Bcast(plain, LENGTH * LENGTH, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < LENGTH * LENGTH && check_rank() == 1; i++)
        check(plain[i] == round + i % LENGTH * LENGTH + i / LENGTH, "a matrix that its root names transposed");
    MPI_Type_free(&transposed);
}

/* What is still being sent must not move when its sender broadcasts it. */
static void broadcast_while_sent(int round)
{
    for (int i = 0; i < COUNT; i++)
        plain[i] = check_rank() == 0 ? round + i : -1;
    if (check_rank() == 0) {
        MPI_Request request;
        MPI_Isend(plain, COUNT, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Send(plain, COUNT, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
        MPI_Bcast(plain, COUNT, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Recv(wide, COUNT, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(wide, 1, round, "a message of its own");
    MPI_Recv(wide, COUNT, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(wide, 1, round, "another");
    MPI_Bcast(plain, COUNT, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    expect(plain, 1, round, "what is sent and broadcast");
}

/* A buffer of constants cannot be held, nor one on the stack. */
static void broadcast_stack(int round)
{
    double numbers[COUNT];
    for (int i = 0; i < COUNT; i++)
        numbers[i] = plain[i] = check_rank() == 1 ? round + i : -1;
    MPI_Bcast(check_rank() == 0 ? numbers : plain, COUNT, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    expect(check_rank() == 0 ? numbers : plain, 1, round, "on the stack");
}

static void broadcast_paused(int round)
{
    for (int i = 0; i < COUNT; i++)
        plain[i] = check_rank() == 1 ? round + i : -1;
    MPI_Pcontrol(check_rank() == 0 ? 0 : 1);
    MPI_Bcast(plain, COUNT, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    expect(plain, 1, round, "paused");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    plain = (double *)check_buffer_new(COUNT * sizeof *plain);
    wide = (double *)check_buffer_new(2 * COUNT * sizeof *wide);
    MPI_Type_vector(COUNT, 1, 2, MPI_DOUBLE, &every_second);
    MPI_Type_commit(&every_second);
    for (int round = 0; round < ROUNDS; round++) {
        broadcast_typed(round, round % 2);
        broadcast_stack(round);
        broadcast_paused(round);
        broadcast_transposed(round);
        broadcast_while_sent(round);
    }
    MPI_Type_free(&every_second);
    return check_end();
}
