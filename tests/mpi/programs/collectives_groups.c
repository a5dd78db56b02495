/* SPDX-License-Identifier: MIT */
/* Claim: collectives between two groups give what MPI's own do, byte for byte, in whatever order their data are
 * touched. Roots are on either side, and the ranks beside one name nothing. Large, small and empty calls come in turn,
 * between those of one group alone.
 * defers: collective
 * ranks: 2 3 5
 * timeout: 60 */
#include "check.h"

/* More calls than before the ranks know how much is moved. */
enum { COUNT = 30000, FEW = 3, ROUNDS = 8, RANKS_MOST = 5, STEP = 1000 };

static struct {
    MPI_Comm local;
    MPI_Comm between;
    int side;
    int number; /* of this rank in its group */
    int sizes[2];
    int round;
} here;

static unsigned *out;
static unsigned *in;

static int own_size(void)
{
    return here.sizes[here.side];
}

static int remote_size(void)
{
    return here.sizes[1 - here.side];
}

/* --- what one rank has for another; ranks of the second group count on from those of the first --- */

static int id_of(int side, int number)
{
    return side * here.sizes[0] + number;
}

static int own_id(void)
{
    return id_of(here.side, here.number);
}

static int remote_id(int number)
{
    return id_of(1 - here.side, number);
}

static unsigned word(int from, int to, int i)
{
    return (unsigned)from * 2654435761u + (unsigned)to * 40503u + (unsigned)here.round * 977u + (unsigned)i * 3u;
}

static void fill(unsigned *words, int count, int from, int to)
{
    for (int i = 0; i < count; i++)
        words[i] = word(from, to, i);
}

/* From the end in every second round, and then from the middle. */
static void expect(const unsigned *words, int count, int from, int to, const char *claim)
{
    for (int i = 0; i < count; i++) {
        int at = here.round % 2 ? count - 1 - i : (i + count / 2) % count;
        check(words[at] == word(from, to, at), claim);
    }
}

static void spoil(unsigned *words, int count)
{
    for (int i = 0; i < count; i++)
        words[i] = 0xeeeeeeeeu;
}

static void expect_spoilt(const unsigned *words, int count, const char *claim)
{
    for (int i = 0; i < count; i++)
        check(words[i] == 0xeeeeeeeeu, claim);
}

/* --- functions with a root: every rank is one in its turn --- */

static bool is_root(int root)
{
    return root == own_id();
}

/* What this rank gives for it. */
static int root_argument(int root)
{
    int root_side = root >= here.sizes[0];
    if (root_side == here.side)
        return is_root(root) ? MPI_ROOT : MPI_PROC_NULL;
    return root - root_side * here.sizes[0];
}

static bool is_leaf(int root)
{
    return root_argument(root) >= 0;
}

static void play_bcast(int root, int count)
{
    fill(out, count, root, 0);
    if (is_leaf(root))
        MPI_Bcast(in, count, MPI_UNSIGNED, root_argument(root), here.between);
    else if (is_root(root))
        MPI_Bcast(out, count, MPI_UNSIGNED, MPI_ROOT, here.between);
    else
        MPI_Bcast(NULL, 0, MPI_BYTE, MPI_PROC_NULL, here.between);
    if (is_leaf(root))
        expect(in, count, root, 0, "MPI_Bcast");
}

static void play_gather(int root, int count)
{
    fill(out, count, own_id(), root);
    if (is_leaf(root))
        MPI_Gather(out, count, MPI_UNSIGNED, NULL, 0, MPI_BYTE, root_argument(root), here.between);
    else if (is_root(root))
        MPI_Gather(NULL, 0, MPI_BYTE, in, count, MPI_UNSIGNED, MPI_ROOT, here.between);
    else
        MPI_Gather(NULL, 0, MPI_BYTE, NULL, 0, MPI_BYTE, MPI_PROC_NULL, here.between);
    for (int i = 0; is_root(root) && i < remote_size(); i++)
        expect(in + i * count, count, remote_id(i), root, "MPI_Gather");
}

static void play_scatter(int root, int count)
{
    for (int i = 0; i < remote_size(); i++)
        fill(out + i * count, count, root, remote_id(i));
    if (is_leaf(root))
        MPI_Scatter(NULL, 0, MPI_BYTE, in, count, MPI_UNSIGNED, root_argument(root), here.between);
    else if (is_root(root))
        MPI_Scatter(out, count, MPI_UNSIGNED, NULL, 0, MPI_BYTE, MPI_ROOT, here.between);
    else
        MPI_Scatter(NULL, 0, MPI_BYTE, NULL, 0, MPI_BYTE, MPI_PROC_NULL, here.between);
    if (is_leaf(root))
        expect(in, count, root, own_id(), "MPI_Scatter");
}

/* Unlike by rank, in every second round with a hole behind each. */
struct lists {
    int counts[RANKS_MOST];
    int places[RANKS_MOST];
    int bytes[RANKS_MOST];
    MPI_Datatype types[RANKS_MOST];
};

static int hole(void)
{
    return here.round % 2 ? STEP : 0;
}

static int uneven(int count, int from, int to)
{
    return count < STEP ? count : count - (from + 2 * to) * (STEP / 20);
}

static struct lists lists_of(int count, bool is_sent, int root)
{
    struct lists lists = {.counts = {0}};
    int place = 0;
    for (int i = 0; i < remote_size(); i++) {
        int from = is_sent ? own_id() : remote_id(i);
        int to = root >= 0 ? root : is_sent ? remote_id(i) : own_id();
        if (root >= 0 && is_sent)
            from = root, to = remote_id(i);
        lists.counts[i] = uneven(count, from, to);
        lists.places[i] = place;
        lists.bytes[i] = place * (int)sizeof *out;
        lists.types[i] = MPI_UNSIGNED;
        place += lists.counts[i] + hole();
    }
    return lists;
}

static void play_gatherv(int root, int count)
{
    struct lists lists = lists_of(count, false, root);
    int own = uneven(count, own_id(), root);
    fill(out, own, own_id(), root);
    if (is_leaf(root))
        MPI_Gatherv(out, own, MPI_UNSIGNED, NULL, NULL, NULL, MPI_BYTE, root_argument(root), here.between);
    else if (is_root(root))
        MPI_Gatherv(NULL, 0, MPI_BYTE, in, lists.counts, lists.places, MPI_UNSIGNED, MPI_ROOT, here.between);
    else
        MPI_Gatherv(NULL, 0, MPI_BYTE, NULL, NULL, NULL, MPI_BYTE, MPI_PROC_NULL, here.between);
    for (int i = 0; is_root(root) && i < remote_size(); i++) {
        expect(in + lists.places[i], lists.counts[i], remote_id(i), root, "MPI_Gatherv");
        expect_spoilt(in + lists.places[i] + lists.counts[i], hole(), "MPI_Gatherv leaves holes alone");
    }
}

static void play_scatterv(int root, int count)
{
    struct lists lists = lists_of(count, true, root);
    int own = uneven(count, root, own_id());
    for (int i = 0; i < remote_size(); i++)
        fill(out + lists.places[i], lists.counts[i], root, remote_id(i));
    if (is_leaf(root))
        MPI_Scatterv(NULL, NULL, NULL, MPI_BYTE, in, own, MPI_UNSIGNED, root_argument(root), here.between);
    else if (is_root(root))
        MPI_Scatterv(out, lists.counts, lists.places, MPI_UNSIGNED, NULL, 0, MPI_BYTE, MPI_ROOT, here.between);
    else
        MPI_Scatterv(NULL, NULL, NULL, MPI_BYTE, NULL, 0, MPI_BYTE, MPI_PROC_NULL, here.between);
    if (is_leaf(root))
        expect(in, own, root, own_id(), "MPI_Scatterv");
}

/* --- sums: each group gets those of the other's --- */

static unsigned remote_sum(int i)
{
    unsigned sum = 0;
    for (int number = 0; number < remote_size(); number++)
        sum += word(remote_id(number), 0, i);
    return sum;
}

static void expect_sums(const unsigned *words, int first, int count, const char *claim)
{
    for (int i = count - 1; i >= 0; i--)
        check(words[i] == remote_sum(first + i), claim);
}

static void play_reduce(int root, int count)
{
    fill(out, count, own_id(), 0);
    if (is_leaf(root))
        MPI_Reduce(out, in, count, MPI_UNSIGNED, MPI_SUM, root_argument(root), here.between);
    else if (is_root(root))
        MPI_Reduce(out, in, count, MPI_UNSIGNED, MPI_SUM, MPI_ROOT, here.between);
    else
        MPI_Reduce(out, in, 0, MPI_BYTE, MPI_BOR, MPI_PROC_NULL, here.between);
    if (is_root(root))
        expect_sums(in, 0, count, "MPI_Reduce");
}

static void play_allreduce(int count)
{
    fill(out, count, own_id(), 0);
    MPI_Allreduce(out, in, count, MPI_UNSIGNED, MPI_SUM, here.between);
    spoil(out, count);
    expect_sums(in, 0, count, "MPI_Allreduce");
}

/* Whose order matters in general; these numbers are whole. */
static void play_allreduce_of_doubles(int count)
{
    double *numbers = (double *)out, *sums = (double *)in;
    for (int i = 0; i < count; i++)
        numbers[i] = own_id() + i;
    MPI_Allreduce(numbers, sums, count, MPI_DOUBLE, MPI_SUM, here.between);
    spoil(out, count);
    double ids = 0;
    for (int number = 0; number < remote_size(); number++)
        ids += remote_id(number);
    for (int i = 0; i < count; i++)
        check(sums[i] == ids + (double)remote_size() * i, "MPI_Allreduce of MPI_DOUBLE");
}

/* As much in all on both sides, however many share it. */
static void play_reduce_scatter_block(int count)
{
    int own = count / 4 * remote_size();
    fill(out, own * own_size(), own_id(), 0);
    MPI_Reduce_scatter_block(out, in, own, MPI_UNSIGNED, MPI_SUM, here.between);
    spoil(out, own * own_size());
    expect_sums(in, own * here.number, own, "MPI_Reduce_scatter_block");
}

static void play_reduce_scatter(int count)
{
    int counts[RANKS_MOST], first = 0, all = count * 2, left = all;
    for (int i = 0; i < own_size(); i++) {
        counts[i] = i == own_size() - 1 ? left : all / (own_size() + 1);
        left -= counts[i];
        first += i < here.number ? counts[i] : 0;
    }
    fill(out, all, own_id(), 0);
    MPI_Reduce_scatter(out, in, counts, MPI_UNSIGNED, MPI_SUM, here.between);
    spoil(out, all);
    expect_sums(in, first, counts[here.number], "MPI_Reduce_scatter");
}

/* --- all with all: one way more than the other --- */

static int sided(int count, int side)
{
    return side == here.round % 2 ? count : count / 3;
}

static void play_allgather(int count)
{
    int own = sided(count, here.side), other = sided(count, 1 - here.side);
    fill(out, own, own_id(), 0);
    MPI_Allgather(out, own, MPI_UNSIGNED, in, other, MPI_UNSIGNED, here.between);
    spoil(out, own);
    for (int i = remote_size() - 1; i >= 0; i--)
        expect(in + i * other, other, remote_id(i), 0, "MPI_Allgather");
}

/* What the other group gives may be nothing at all. */
static void play_allgather_one_way(int count)
{
    int own = here.side == 0 ? count : 0, other = here.side == 0 ? 0 : count;
    fill(out, own, own_id(), 0);
    MPI_Allgather(out, own, MPI_UNSIGNED, in, other, MPI_UNSIGNED, here.between);
    spoil(out, own);
    for (int i = 0; i < remote_size() && other != 0; i++)
        expect(in + i * other, other, remote_id(i), 0, "MPI_Allgather one way");
}

static void play_alltoall(int count)
{
    int own = sided(count, here.side), other = sided(count, 1 - here.side);
    for (int i = 0; i < remote_size(); i++)
        fill(out + i * own, own, own_id(), remote_id(i));
    MPI_Alltoall(out, own, MPI_UNSIGNED, in, other, MPI_UNSIGNED, here.between);
    spoil(out, own * remote_size());
    for (int i = remote_size() - 1; i >= 0; i--)
        expect(in + i * other, other, remote_id(i), own_id(), "MPI_Alltoall");
}

static void play_allgatherv(int count)
{
    struct lists lists = lists_of(count, false, 0);
    int own = uneven(count, own_id(), 0);
    fill(out, own, own_id(), 0);
    MPI_Allgatherv(out, own, MPI_UNSIGNED, in, lists.counts, lists.places, MPI_UNSIGNED, here.between);
    spoil(out, own);
    for (int i = 0; i < remote_size(); i++)
        expect(in + lists.places[i], lists.counts[i], remote_id(i), 0, "MPI_Allgatherv");
}

static void expect_lists(const struct lists *lists, const char *claim)
{
    for (int i = remote_size() - 1; i >= 0; i--)
        expect(in + lists->places[i], lists->counts[i], remote_id(i), own_id(), claim);
}

static void play_alltoallv(int count)
{
    struct lists sent = lists_of(count, true, -1), received = lists_of(count, false, -1);
    for (int i = 0; i < remote_size(); i++)
        fill(out + sent.places[i], sent.counts[i], own_id(), remote_id(i));
    MPI_Alltoallv(out, sent.counts, sent.places, MPI_UNSIGNED, in, received.counts, received.places, MPI_UNSIGNED,
                  here.between);
    spoil(out, sent.places[remote_size() - 1]);
    expect_lists(&received, "MPI_Alltoallv");
}

static void play_alltoallw(int count)
{
    struct lists sent = lists_of(count, true, -1), received = lists_of(count, false, -1);
    for (int i = 0; i < remote_size(); i++)
        fill(out + sent.places[i], sent.counts[i], own_id(), remote_id(i));
    MPI_Alltoallw(out, sent.counts, sent.bytes, sent.types, in, received.counts, received.bytes, received.types,
                  here.between);
    spoil(out, sent.places[remote_size() - 1]);
    expect_lists(&received, "MPI_Alltoallw");
}

/* --- all of them --- */

/* One whose data nobody has looked at yet, when the other group has none like it. */
static void play_local(int count)
{
    fill(out, count, own_id(), 0);
    MPI_Allreduce(out, in, count, MPI_UNSIGNED, MPI_MAX, here.local);
    MPI_Bcast(out, count, MPI_UNSIGNED, 0, here.local);
    expect(out, count, id_of(here.side, 0), 0, "MPI_Bcast of one group");
}

static void play_rooted(void (*play)(int root, int count))
{
    for (here.round = 0; here.round < ROUNDS; here.round++) {
        int root = here.round % (here.sizes[0] + here.sizes[1]);
        spoil(in, (COUNT + STEP) * RANKS_MOST);
        play(root, COUNT);
        spoil(in, (FEW + STEP) * RANKS_MOST);
        play(here.sizes[0] - 1, FEW);
        play(here.sizes[0], 0);
    }
    play_local(COUNT);
}

static void play_all(void (*play)(int count))
{
    for (here.round = 0; here.round < ROUNDS; here.round++) {
        play(COUNT);
        play(FEW);
        play(0);
    }
    play_local(COUNT);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    here.sizes[0] = (check_size() + 1) / 3;
    here.sizes[1] = check_size() - here.sizes[0];
    here.side = check_rank() >= here.sizes[0];
    here.number = check_rank() - here.side * here.sizes[0];
    out = (unsigned *)check_buffer_new((COUNT + STEP) * RANKS_MOST * sizeof *out);
    in = (unsigned *)check_buffer_new((COUNT + STEP) * RANKS_MOST * sizeof *in);
    MPI_Comm_split(MPI_COMM_WORLD, here.side, check_rank(), &here.local);
    MPI_Intercomm_create(here.local, 0, MPI_COMM_WORLD, here.side == 0 ? here.sizes[0] : 0, 5, &here.between);
    play_rooted(play_bcast);
    play_rooted(play_gather);
    play_rooted(play_scatter);
    play_rooted(play_reduce);
    play_rooted(play_gatherv);
    play_rooted(play_scatterv);
    play_all(play_allreduce);
    play_all(play_allreduce_of_doubles);
    play_all(play_reduce_scatter_block);
    play_all(play_reduce_scatter);
    play_all(play_allgather);
    play_all(play_allgather_one_way);
    play_all(play_alltoall);
    play_all(play_allgatherv);
    play_all(play_alltoallv);
    play_all(play_alltoallw);
    MPI_Comm_free(&here.between);
    MPI_Comm_free(&here.local);
    return check_end();
}
