/* SPDX-License-Identifier: MIT */
/* Does a nonblocking transfer go on while its ranks are elsewhere, and who carries it?
 *
 *     probe WHERE eager LARGEST
 *     probe WHERE transfer REPETITIONS TESTS SLEEP_US WORK_US SIZE [SIZE ...]
 *
 * WHERE is `within` or `between`: the pair of ranks on one host or on two that is
 * measured; other ranks sleep. The first line of JSON says which pair that is (null:
 * there is none). `eager` finds the largest message whose send completes while the
 * receiver is outside MPI and has posted nothing. `transfer` prints one line per size:
 * the transfer alone, then with one rank or both away between start and wait. Who is
 * away sleeps for SLEEP_US, or sleeps with TESTS calls of MPI_Test in between, or computes
 * for WORK_US (0: half as long again as the transfer takes), or computes with calls in
 * between (the experiment of MPICH's guide to progress, and real work). */
#include <dirent.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "measure.h"
#include "pair.h"

enum { TAG = 1, WARM_UP = 1, PRICED_TESTS = 100, PRICE_TAG = 20 };
enum { SENDER = PAIR_SENDER, RECEIVER = PAIR_RECEIVER, BOTH_AWAY = SENDER | RECEIVER };
enum {
    WORK_MIN_US = 2000,
    EAGER_WAIT_US = 40000,
    EAGER_LEAVE_US = 2000,
    EAGER_ATTEMPTS = 5,
    EAGER_SUCCESSES = 2,
    EAGER_PRECISION = 128,
    COMM_SAMPLES = 5
};

static struct setting {
    double units_per_us;
    int tests;
    double sleep_us, work_us;
} setting;

/* What the absence that goes on has taken asleep and in MPI_Test. */
static double slept_us, tested_us;

/* What one rank of the pair saw in one transfer; doubles only, so that they travel in one piece. */
enum { TOTAL, START, ABSENCE, WAIT, SLEPT, TESTED, HELPERS, NET_BYTES, RDMA_BYTES, VALUES };
static const char *value_names[VALUES] = {"total_us", "start_us",   "absence_us", "wait_us",   "slept_us",
                                          "test_us",  "helpers_us", "net_bytes",  "rdma_bytes"};

struct message {
    char *buffer;
    int length_bytes;
    MPI_Request *request;
};

typedef void absence(struct pair *pair, double length_us, MPI_Request *request);

/* Opened once: Lapwing lets no file be opened before its ops are over, which would change what is measured. */
enum { COUNTERS_MAX = 64 };
struct counters {
    int count;
    int descriptors[COUNTERS_MAX];
};
static struct counters net_counters, rdma_counters;

static void open_counters(struct counters *counters, const char *folder, const char *name)
{
    DIR *devices = opendir(folder);
    for (struct dirent *entry = devices ? readdir(devices) : NULL; entry; entry = readdir(devices)) {
        char path[512];
        snprintf(path, sizeof(path), "%s/%s/%s", folder, entry->d_name, name);
        int descriptor = entry->d_name[0] == '.' ? -1 : open(path, O_RDONLY | O_CLOEXEC);
        if (descriptor >= 0 && counters->count < COUNTERS_MAX)
            counters->descriptors[counters->count++] = descriptor;
    }
    if (devices)
        closedir(devices);
}

static double read_counter(int descriptor)
{
    char text[32] = "";
    return pread(descriptor, text, sizeof(text) - 1, 0) > 0 ? atof(text) : 0;
}

/* 0 where there are none. */
static double sum_counters(const struct counters *counters)
{
    double sum = 0;
    for (int i = 0; i < counters->count; i++)
        sum += read_counter(counters->descriptors[i]);
    return sum;
}

static void open_all_counters(void)
{
    open_counters(&net_counters, "/sys/class/net", "statistics/tx_bytes");
    open_counters(&rdma_counters, "/sys/class/infiniband", "ports/1/counters/port_xmit_data");
}

static double read_net_bytes(void)
{
    return sum_counters(&net_counters);
}

/* Counted in words of four bytes (the kernel's Documentation/ABI, sysfs-class-infiniband). */
static double read_rdma_bytes(void)
{
    return 4 * sum_counters(&rdma_counters);
}

/* NULL: nothing is under way, and only the absence itself is timed. */
static void test(MPI_Request *request)
{
    int is_done;
    double begin_us = measure_now_us();
    if (request)
        MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
    tested_us += measure_now_us() - begin_us;
}

static void sleep_once(double length_us)
{
    double begin_us = measure_now_us();
    measure_sleep(length_us);
    slept_us += measure_now_us() - begin_us;
}

static void stay(struct pair *pair, double length_us, MPI_Request *request)
{
    (void)pair, (void)length_us, (void)request;
}

static void sleep_through(struct pair *pair, double length_us, MPI_Request *request)
{
    (void)pair, (void)request, (void)length_us;
    sleep_once(setting.sleep_us);
}

static void sleep_testing(struct pair *pair, double length_us, MPI_Request *request)
{
    (void)pair, (void)length_us;
    for (int i = 0; i <= setting.tests; i++) {
        sleep_once(setting.sleep_us / (setting.tests + 1));
        if (i < setting.tests)
            test(request);
    }
}

static void work_through(struct pair *pair, double length_us, MPI_Request *request)
{
    (void)pair, (void)request;
    measure_work((long)(length_us * setting.units_per_us));
}

static void work_testing(struct pair *pair, double length_us, MPI_Request *request)
{
    (void)pair;
    for (int i = 0; i <= setting.tests; i++) {
        measure_work((long)(length_us * setting.units_per_us / (setting.tests + 1)));
        if (i < setting.tests)
            test(request);
    }
}

/* Inlined into a function for each experiment: a library that learns from call sites must not mix those with
 * slack and those without. The tag differs too, else the compiler would make one function of them all; and the
 * time is taken here, else it would jump to MPI, which would then return to the one place that called. */
static inline __attribute__((always_inline)) double start(struct pair *pair, struct message message, int tag)
{
    if (pair->side == SENDER)
        MPI_Isend(message.buffer, message.length_bytes, MPI_BYTE, 1, tag, pair->communicator, message.request);
    else
        MPI_Irecv(message.buffer, message.length_bytes, MPI_BYTE, 0, tag, pair->communicator, message.request);
    return measure_now_us();
}

static double start_alone(struct pair *pair, struct message message)
{
    return start(pair, message, TAG + 1);
}

static double start_sleep(struct pair *pair, struct message message)
{
    return start(pair, message, TAG + 2);
}

static double start_sleep_test(struct pair *pair, struct message message)
{
    return start(pair, message, TAG + 3);
}

static double start_work(struct pair *pair, struct message message)
{
    return start(pair, message, TAG + 4);
}

static double start_work_test(struct pair *pair, struct message message)
{
    return start(pair, message, TAG + 5);
}

static double start_sender_sleep(struct pair *pair, struct message message)
{
    return start(pair, message, TAG + 6);
}

static double start_sender_work(struct pair *pair, struct message message)
{
    return start(pair, message, TAG + 7);
}

static double start_receiver_sleep(struct pair *pair, struct message message)
{
    return start(pair, message, TAG + 8);
}

static double start_receiver_work(struct pair *pair, struct message message)
{
    return start(pair, message, TAG + 9);
}

static const struct experiment {
    const char *name;
    int who_is_away;
    absence *absence;
    double (*start)(struct pair *pair, struct message message); /* returns when it has started */
} experiments[] = {
    {"alone", 0, stay, start_alone},
    {"sleep", BOTH_AWAY, sleep_through, start_sleep},
    {"sleep_test", BOTH_AWAY, sleep_testing, start_sleep_test},
    {"work", BOTH_AWAY, work_through, start_work},
    {"work_test", BOTH_AWAY, work_testing, start_work_test},
    {"sender_sleep", SENDER, sleep_through, start_sender_sleep},
    {"sender_work", SENDER, work_through, start_sender_work},
    {"receiver_sleep", RECEIVER, sleep_through, start_receiver_sleep},
    {"receiver_work", RECEIVER, work_through, start_receiver_work},
};
enum { EXPERIMENTS = sizeof(experiments) / sizeof(experiments[0]), FIRST_WORK = 3, WORKS = 2, TEST_PRICE = WORKS };
enum { PRICES = WORKS + 1 };

static double calibrate_units_per_us(void)
{
    double best_us = 1e300;
    for (int i = 0; i < 20; i++) {
        double begin_us = measure_now_us();
        measure_work(2000);
        double elapsed_us = measure_now_us() - begin_us;
        best_us = elapsed_us < best_us ? elapsed_us : best_us;
    }
    return 2000 / best_us;
}

static void transfer(struct pair *pair, const struct experiment *experiment, char *buffer, int length_bytes,
                     double away_us, double *values)
{
    MPI_Request request;
    MPI_Barrier(pair->communicator);
    values[NET_BYTES] = -read_net_bytes();
    values[RDMA_BYTES] = -read_rdma_bytes();
    MPI_Barrier(pair->communicator);
    double begin_us = measure_now_us();
    double started_us = experiment->start(pair, (struct message){buffer, length_bytes, &request});
    double helpers_us = measure_helpers_us();
    slept_us = tested_us = 0;
    if (experiment->who_is_away & pair->side)
        experiment->absence(pair, away_us, &request);
    double back_us = measure_now_us();
    values[HELPERS] = measure_helpers_us() - helpers_us;
    values[NET_BYTES] += read_net_bytes();
    values[RDMA_BYTES] += read_rdma_bytes();
    double wait_us = measure_now_us();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    double end_us = measure_now_us();
    values[START] = started_us - begin_us;
    values[ABSENCE] = back_us - started_us;
    values[WAIT] = end_us - wait_us;
    values[SLEPT] = slept_us;
    values[TESTED] = tested_us;
    values[TOTAL] = values[START] + values[ABSENCE] + values[WAIT]; /* without the time of reading counters */
}

/* How long to compute, where that is not given: half as long again as the transfer, so that it could be over by then.
 */
static double choose_work_us(struct pair *pair, char *buffer, int length_bytes)
{
    double values[VALUES], shortest_us = 1e300, longest_us;
    for (int i = 0; i < COMM_SAMPLES; i++) {
        transfer(pair, &experiments[0], buffer, length_bytes, 0, values);
        MPI_Allreduce(&values[TOTAL], &longest_us, 1, MPI_DOUBLE, MPI_MAX, pair->communicator);
        shortest_us = longest_us < shortest_us ? longest_us : shortest_us;
    }
    double work_us = 1.5 * shortest_us > WORK_MIN_US ? 1.5 * shortest_us : WORK_MIN_US;
    MPI_Bcast(&work_us, 1, MPI_DOUBLE, 0, pair->communicator);
    return setting.work_us > 0 ? setting.work_us : work_us;
}

/* One MPI_Test that finds nothing to do: of a message that nobody has sent. */
static double time_test_us(struct pair *pair)
{
    MPI_Request request;
    int is_done, peer = pair->side == SENDER;
    MPI_Irecv(NULL, 0, MPI_BYTE, peer, PRICE_TAG, pair->communicator, &request);
    MPI_Barrier(pair->communicator);
    double begin_us = measure_now_us();
    for (int i = 0; i < PRICED_TESTS; i++)
        MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    double price_us = (measure_now_us() - begin_us) / PRICED_TESTS;
    MPI_Barrier(pair->communicator);
    MPI_Send(NULL, 0, MPI_BYTE, peer, PRICE_TAG, pair->communicator);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return price_us;
}

/* Work is slowed by others: what it takes is measured, not assumed. */
static void time_prices(struct pair *pair, double work_us, double *times_us)
{
    for (int i = 0; i < WORKS; i++) {
        MPI_Barrier(pair->communicator);
        double begin_us = measure_now_us();
        experiments[FIRST_WORK + i].absence(pair, work_us, NULL);
        times_us[i] = measure_now_us() - begin_us;
    }
    times_us[TEST_PRICE] = time_test_us(pair);
}

static void print_side(const char *name, const double *values, int repetitions)
{
    printf(", \"%s\": {\"count\": %d", name, repetitions);
    for (int value = 0; value < VALUES; value++)
        measure_print_array(value_names[value], values + value, repetitions, EXPERIMENTS * VALUES);
    printf("}");
}

static void print_prices(const double *times_us, int repetitions)
{
    for (int i = 0; i < WORKS; i++) {
        char name[64];
        snprintf(name, sizeof(name), "%s_alone_us", experiments[FIRST_WORK + i].name);
        measure_print_array(name, times_us + i, repetitions, PRICES);
    }
    measure_print_array("test_alone_us", times_us + TEST_PRICE, repetitions, PRICES);
}

static void print_transfer(int length_bytes, double work_us, const double *alone_us, const double *both,
                           int repetitions)
{
    size_t side = (size_t)repetitions * EXPERIMENTS * VALUES;
    printf("{\"size_bytes\": %d, \"tests\": %d, \"sleep_us\": %.2f, \"work_us\": %.2f", length_bytes, setting.tests,
           setting.sleep_us, work_us);
    print_prices(alone_us, repetitions);
    for (int i = 0; i < EXPERIMENTS; i++) {
        printf(", \"%s\": {\"who_is_away\": %d", experiments[i].name, experiments[i].who_is_away);
        print_side("sender", both + (size_t)i * VALUES, repetitions);
        print_side("receiver", both + side + (size_t)i * VALUES, repetitions);
        printf("}");
    }
    printf("}\n");
    fflush(stdout);
}

static void gather_and_print(struct pair *pair, int length_bytes, double work_us, double *alone_us, double *values,
                             int repetitions)
{
    int count = repetitions * EXPERIMENTS * VALUES;
    double *both = calloc((size_t)count * 2, sizeof(double));
    double *slowest_us = calloc((size_t)repetitions * PRICES, sizeof(double));
    MPI_Gather(values, count, MPI_DOUBLE, both, count, MPI_DOUBLE, 0, pair->communicator);
    MPI_Reduce(alone_us, slowest_us, repetitions * PRICES, MPI_DOUBLE, MPI_MAX, 0, pair->communicator);
    if (pair->side == SENDER)
        print_transfer(length_bytes, work_us, slowest_us, both, repetitions);
    free(slowest_us);
    free(both);
}

static void measure_size(struct pair *pair, int length_bytes, int repetitions)
{
    char *buffer = measure_buffer((size_t)length_bytes, pair->side);
    double *values = calloc((size_t)repetitions * EXPERIMENTS * VALUES, sizeof(double));
    double *alone_us = calloc((size_t)repetitions * PRICES, sizeof(double));
    double work_us = choose_work_us(pair, buffer, length_bytes);
    for (int i = -WARM_UP; i < repetitions; i++) {
        int row = i < 0 ? 0 : i;
        time_prices(pair, work_us, alone_us + row * PRICES);
        for (int j = 0; j < EXPERIMENTS; j++)
            transfer(pair, &experiments[j], buffer, length_bytes, work_us, values + (row * EXPERIMENTS + j) * VALUES);
    }
    gather_and_print(pair, length_bytes, work_us, alone_us, values, repetitions);
    free(alone_us);
    free(values);
    free(buffer);
}

/* The receiver is told first, and then sleeps: whether the send completes meanwhile is the sender's to see. */
static bool send_alone_once(struct pair *pair, char *buffer, int length_bytes, double patience_us)
{
    double request_words[2] = {length_bytes, patience_us};
    MPI_Send(request_words, 2, MPI_DOUBLE, 1, TAG, pair->communicator);
    /* Else the receiver might take the message along, while it still looks for these two words. */
    MPI_Recv(NULL, 0, MPI_DOUBLE, 1, TAG, pair->communicator, MPI_STATUS_IGNORE);
    double begin_us = measure_now_us();
    measure_sleep(EAGER_LEAVE_US);
    MPI_Request request;
    int is_done = 0;
    MPI_Isend(buffer, length_bytes, MPI_BYTE, 1, TAG, pair->communicator, &request);
    do {
        MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    } while (!is_done && measure_now_us() - begin_us < patience_us * 0.6);
    bool is_in_time = measure_now_us() - begin_us < patience_us; /* else the receiver may have been back */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return is_done && is_in_time;
}

/* On a busy machine the system may keep the sender off its core until the receiver is back, which looks like a
 * failure, or tell it of the receiver's leaving too late, which looks like a success: neither counts alone. */
static bool is_sent_alone(struct pair *pair, char *buffer, int length_bytes, double us_per_byte)
{
    double patience_us = EAGER_WAIT_US + 4 * length_bytes * us_per_byte;
    int successes = 0;
    for (int i = 0; i < EAGER_ATTEMPTS && successes < EAGER_SUCCESSES; i++)
        successes += send_alone_once(pair, buffer, length_bytes, patience_us);
    return successes == EAGER_SUCCESSES;
}

static void answer_sends(struct pair *pair, char *buffer)
{
    double request_words[2] = {0, 0};
    for (;;) {
        MPI_Recv(request_words, 2, MPI_DOUBLE, 0, TAG, pair->communicator, MPI_STATUS_IGNORE);
        if (request_words[0] < 0)
            return;
        MPI_Send(NULL, 0, MPI_DOUBLE, 0, TAG, pair->communicator);
        measure_sleep(request_words[1]);
        MPI_Recv(buffer, (int)request_words[0], MPI_BYTE, 0, TAG, pair->communicator, MPI_STATUS_IGNORE);
    }
}

static double time_transfer_us(struct pair *pair, char *buffer, int length_bytes)
{
    double values[VALUES];
    for (int i = 0; i < COMM_SAMPLES; i++)
        transfer(pair, &experiments[0], buffer, length_bytes, 0, values);
    return values[TOTAL];
}

/* Doubles the size until a send hangs, then halves the gap down to less than a percent. 0: not even one byte; LARGEST:
 * all of them. */
static int find_eager_bytes(struct pair *pair, char *buffer, int largest_bytes, double us_per_byte)
{
    int low = 0, high = 1;
    while (high < largest_bytes && is_sent_alone(pair, buffer, high, us_per_byte)) {
        low = high;
        high = high > largest_bytes / 2 ? largest_bytes : high * 2;
    }
    if (high == largest_bytes && is_sent_alone(pair, buffer, high, us_per_byte))
        return largest_bytes;
    while (high - low > 1 + low / EAGER_PRECISION) {
        int middle = low + (high - low) / 2;
        if (is_sent_alone(pair, buffer, middle, us_per_byte))
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void measure_eager(struct pair *pair, int largest_bytes)
{
    char *buffer = measure_buffer((size_t)largest_bytes, pair->side);
    double us_per_byte = time_transfer_us(pair, buffer, largest_bytes) / largest_bytes;
    if (pair->side == SENDER) {
        int eager_bytes = find_eager_bytes(pair, buffer, largest_bytes, us_per_byte);
        double end[2] = {-1, 0};
        MPI_Send(end, 2, MPI_DOUBLE, 1, TAG, pair->communicator);
        printf("{\"eager_bytes\": %d, \"largest_bytes\": %d}\n", eager_bytes, largest_bytes);
        fflush(stdout);
    } else {
        answer_sends(pair, buffer);
    }
    free(buffer);
}

static void measure(struct pair *pair, int argc, char **argv)
{
    setting.units_per_us = calibrate_units_per_us();
    open_all_counters();
    if (strcmp(argv[2], "eager") == 0) {
        measure_eager(pair, atoi(argv[3]));
        return;
    }
    if (argc < 8)
        MPI_Abort(MPI_COMM_WORLD, 2);
    setting.tests = atoi(argv[4]);
    setting.sleep_us = atof(argv[5]);
    setting.work_us = atof(argv[6]);
    for (int i = 7; i < argc; i++)
        measure_size(pair, atoi(argv[i]), atoi(argv[3]));
}

int main(int argc, char **argv)
{
    return pair_run(argc, argv, 4, measure);
}
