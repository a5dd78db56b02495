/* SPDX-License-Identifier: MIT */
/* Claim: ranks that name the blocks of MPI_Allgatherv by other types, with gaps, or in another order, leave room
 * between them, put them further apart than an int of bytes says, have no memory that can be held, or have paused
 * Lapwing, match those that return early in pieces.
 * defers: collective
 * environment: LAPWING_LEARN=off
 * ranks: 2 3
 * timeout: 120 */
#include <stdint.h>
#include <sys/mman.h>

#include "check.h"

enum { UNIT = 3, UNITS = 30011, ROUNDS = 3, RANKS_MAX = 4, ROOM = 5 * UNIT, SPAN = 8 * UNITS * UNIT };
/* How rank 0 names them; the others by doubles in a row, but for types that MPICH's own MPI_Allgatherv wants to be
 * alike: it cuts by elements. */
enum { TRIPLES, EVERY_SECOND, APART, FAR_APART, STACK, PAUSED, WAYS };
static const char *const claims[WAYS] = {"by triples",       "by a type with gaps",     "with room between blocks",
                                         "blocks far apart", "memory that is not held", "paused"};

#ifdef OPEN_MPI
enum { TYPES_MAY_DIFFER = 1 };
#else
enum { TYPES_MAY_DIFFER = 0 };
#endif

static double *sent;
static double *received;
static double *far_away;

/* In the last rounds even enough for Intel MPI (collectives_lists_uneven.c). */
static int units_of(int rank, int round)
{
    return rank == round % check_size() ? UNITS : 1000 * (rank + round);
}

static double value(int way, int round, int rank, int i)
{
    return way * 3.0 + round * 7919.0 + rank * 104729.0 + i * 16.0;
}

/* This rank's way, where rank 0 has the other. */
static int own_way(int way)
{
    bool is_common = way <= EVERY_SECOND && !TYPES_MAY_DIFFER;
    return is_common || check_rank() == 0 ? way : PAUSED;
}

static MPI_Datatype type_new(int way)
{
    MPI_Datatype type;
    if (way == EVERY_SECOND)
        MPI_Type_create_resized(MPI_DOUBLE, 0, 2 * sizeof(double), &type);
    else
        MPI_Type_contiguous(way == TRIPLES ? UNIT : 1, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Of the blocks of one rank, in elements of its type: `per` of them hold one unit. */
struct plan {
    int counts[RANKS_MAX];
    int displacements[RANKS_MAX];
    int per;    /* elements of a unit */
    int stride; /* doubles from one double of a unit to the next */
};

static struct plan plan_make(int way, int round)
{
    struct plan plan = {.per = way == TRIPLES ? 1 : UNIT, .stride = way == EVERY_SECOND ? 2 : 1};
    int at = 0;
    for (int rank = 0; rank < check_size(); rank++) {
        plan.counts[rank] = units_of(rank, round) * plan.per;
        plan.displacements[rank] = way == FAR_APART ? rank * (1 << 28) : at;
        at += plan.counts[rank] + (way == APART ? ROOM : 0);
    }
    return plan;
}

/* Where the program has double `i` of a rank's block. */
static size_t place_of(const struct plan *plan, int rank, int i)
{
    size_t doubles_per = (size_t)(UNIT / plan->per * plan->stride);
    return (size_t)plan->displacements[rank] * doubles_per + (size_t)i * (size_t)plan->stride;
}

static void gather(int way, int round, bool is_in_place, double *target)
{
    int own = units_of(check_rank(), round);
    struct plan plan = plan_make(own_way(way), round);
    MPI_Datatype type = type_new(own_way(way));
    for (int i = 0; i < own * UNIT; i++) {
        double *mine = is_in_place ? target + place_of(&plan, check_rank(), i) : sent + (size_t)i * (size_t)plan.stride;
        *mine = value(way, round, check_rank(), i);
    }
    if (check_rank() == 0 && way == PAUSED)
        MPI_Pcontrol(0);
    MPI_Allgatherv(is_in_place ? MPI_IN_PLACE : sent, own * plan.per, type, target, plan.counts, plan.displacements,
                   type, MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    MPI_Type_free(&type);
    for (int rank = 0; rank < check_size(); rank++)
        for (int i = 0; i < units_of(rank, round) * UNIT; i++)
            check(target[place_of(&plan, rank, i)] == value(way, round, rank, i), claims[way]);
}

static void play(int way, int round, bool is_in_place)
{
    double frame[SPAN];
    double *target = received;
    for (int i = 0; i < SPAN; i++)
        received[i] = -5;
    if (check_rank() == 0 && way == FAR_APART)
        target = far_away;
    if (check_rank() == 0 && way == STACK)
        target = frame;
    gather(way, round, is_in_place, target);
    if (own_way(way) == EVERY_SECOND)
        check(received[1] == -5 && received[3] == -5, "what lies in the gaps stays");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    sent = (double *)check_buffer_new(SPAN * sizeof(double));
    received = (double *)check_buffer_new(SPAN * sizeof(double));
    far_away = mmap(NULL, RANKS_MAX * ((size_t)1 << 31), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    check(far_away != MAP_FAILED, "address space");
    for (int round = 0; round < ROUNDS; round++)
        for (int way = 0; way < WAYS; way++)
            for (int is_in_place = 0; is_in_place < 2; is_in_place++)
                play(way, round, is_in_place);
    return check_end();
}
