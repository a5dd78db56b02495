/* SPDX-License-Identifier: MIT */
/* Claim: what ranks offer is put into the launcher's store before MPI's first wait there, in the words that MPI speaks,
 * and is known after it. Nothing is known where there is no such wait, or where the launcher answers otherwise or not
 * at all. MPI's own lines go as they were. */
#include "job/pmi.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../base/claim.h"
#include "job/store.h"
#include "job/write_host.h"

/* --- what libc's entries do --- */

static offer_write_fn *write_now = write;

static offer_write_fn *host_write_now(void)
{
    return write_now;
}

static void host_write_by(offer_write_fn *function)
{
    write_now = function;
}

const struct write_host write_host = {.now = host_write_now, .call = host_write_by};

/* --- a launcher, for ranks 0 and 1 of two; this process is rank 1 --- */

struct launcher {
    int descriptor;
    int version;       /* that MPI speaks */
    const char *puts;  /* how it answers to a put; NULL: it ends */
    bool has_no_wait;  /* MPI begins none */
    const char *other; /* what rank 0 has offered; NULL: nothing */
    bool is_past;      /* the wait */
    char own[200];
};

enum { LENGTH_BYTES = 6 };

static void say(const struct launcher *launcher, const char *text)
{
    char line[400];
    if (launcher->version == 1)
        snprintf(line, sizeof line, "%s\n", text);
    else
        snprintf(line, sizeof line, "%*zu%s", LENGTH_BYTES, strlen(text), text);
    /* In two parts, as a stream may arrive. */
    size_t half = strlen(line) / 2;
    claim(write(launcher->descriptor, line, half) == (ssize_t)half, "the first part");
    claim(write(launcher->descriptor, line + half, strlen(line) - half) > 0, "the second part");
}

static void answer_get(struct launcher *launcher, const char *line)
{
    char answer[300];
    bool is_own = strstr(line, "key=lapwing-1") != NULL;
    const char *text = is_own ? launcher->own : launcher->other;
    if (launcher->version == 1 && launcher->is_past && text != NULL)
        snprintf(answer, sizeof answer, "cmd=get_result rc=0 msg=success value=%s", text);
    else if (launcher->version == 1)
        snprintf(answer, sizeof answer, "cmd=get_result rc=-1 msg=key_lapwing_not_found value=unknown");
    else if (launcher->is_past && text != NULL)
        snprintf(answer, sizeof answer, "cmd=kvs-get-response;rc=0;found=TRUE;value=%s;", text);
    else
        snprintf(answer, sizeof answer, "cmd=kvs-get-response;rc=0;found=FALSE;");
    say(launcher, answer);
}

static void answer_put(struct launcher *launcher, const char *line)
{
    claim(!launcher->is_past, "the text comes before the wait");
    sscanf(strstr(line, "value=") + strlen("value="), "%199[^;\n]", launcher->own);
    say(launcher, launcher->puts);
}

static bool begins(const char *line, const char *text)
{
    return strncmp(line, text, strlen(text)) == 0;
}

static void answer(struct launcher *launcher, const char *line)
{
    bool is_first = launcher->version == 1;
    if (begins(line, is_first ? "cmd=put kvsname=kvs_7_0 key=lapwing-1 value=" : "cmd=kvs-put;key=lapwing-1;value="))
        answer_put(launcher, line);
    else if (begins(line, is_first ? "cmd=get kvsname=kvs_7_0 key=lapwing-" : "cmd=kvs-get;"))
        answer_get(launcher, line);
    else if (begins(line, is_first ? "cmd=barrier_in\n" : "cmd=kvs-fence;")) {
        launcher->is_past = true;
        say(launcher, is_first ? "cmd=barrier_out rc=0" : "cmd=kvs-fence-response;rc=0;");
    } else {
        claim(is_first && strcmp(line, "cmd=get_my_kvsname\n") == 0, line);
        say(launcher, "cmd=my_kvsname kvsname=kvs_7_0");
    }
}

/* The command in what was read so far; NULL: there is more of it to come. */
static const char *command_of(const struct launcher *launcher, const char *bytes, size_t length)
{
    if (launcher->version == 1)
        return length > 0 && bytes[length - 1] == '\n' ? bytes : NULL;
    bool is_whole = length >= LENGTH_BYTES && length == LENGTH_BYTES + (size_t)atol(bytes);
    return is_whole ? bytes + LENGTH_BYTES : NULL;
}

static void *launcher_run(void *argument)
{
    struct launcher *launcher = argument;
    char bytes[1024];
    size_t have = 0;
    for (ssize_t length; (length = read(launcher->descriptor, bytes + have, sizeof bytes - 1 - have)) > 0;) {
        have += (size_t)length;
        bytes[have] = '\0';
        const char *command = command_of(launcher, bytes, have);
        if (launcher->puts == NULL && strstr(bytes, "put") != NULL)
            break; /* it ends */
        if (command == NULL)
            continue;
        answer(launcher, command);
        have = 0;
    }
    close(launcher->descriptor);
    return NULL;
}

/* --- MPI --- */

static void mpi_wait_for_all(int descriptor, int version)
{
    const char *line = version == 1 ? "cmd=barrier_in\n" : "    14cmd=kvs-fence;";
    char answer[100];
    claim(write_now(STDERR_FILENO, line, 0) == 0, "what is written elsewhere goes there");
    if (write_now(descriptor, line, strlen(line)) > 0)
        claim(read(descriptor, answer, sizeof answer) >= 0, "the launcher's answer");
    usleep(10000); /* it comes in two parts */
    recv(descriptor, answer, sizeof answer, MSG_DONTWAIT);
}

struct outcome {
    bool is_settled;
    bool is_same;
};

static void descriptor_tell(int descriptor)
{
    char number[16];
    snprintf(number, sizeof number, "%d", descriptor);
    setenv("PMI_FD", number, 1);
}

static struct outcome outcome_of(struct launcher *launcher)
{
    pthread_t thread;
    int ends[2];
    claim(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "a pair of sockets");
    launcher->descriptor = ends[1];
    claim(pthread_create(&thread, NULL, launcher_run, launcher) == 0, "a thread");
    descriptor_tell(ends[0]);
    offer = (struct offer){0};
    store_offer("the-text", true);
    if (!launcher->has_no_wait)
        mpi_wait_for_all(ends[0], launcher->version);
    struct outcome outcome = {.is_settled = store_is_settled()};
    claim(write_now == write, "libc's own function stands there again");
    outcome.is_same = outcome.is_settled && store_is_same(0);
    shutdown(ends[0], SHUT_WR);
    pthread_join(thread, NULL);
    close(ends[0]);
    return outcome;
}

/* --- the claims --- */

static const char *const put_is_right[] = {NULL, "cmd=put_result rc=0 msg=success", "cmd=kvs-put-response;rc=0;"};

static void environment_set(void)
{
    unsetenv("PMIX_NAMESPACE");
    setenv("PMI_RANK", "1", 1);
    setenv("PMI_SIZE", "2", 1);
}

static void answers_check(int version)
{
    const char *puts = put_is_right[version];
    struct outcome same = outcome_of(&(struct launcher){.version = version, .puts = puts, .other = "the-text"});
    claim(same.is_settled && same.is_same, "after the wait the same text is known");
    struct outcome other = outcome_of(&(struct launcher){.version = version, .puts = puts, .other = "another-text"});
    claim(other.is_settled && !other.is_same, "another text is another");
    struct outcome none = outcome_of(&(struct launcher){.version = version, .puts = puts});
    claim(none.is_settled && !none.is_same, "and none is none");
    char longest[150];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    struct outcome longer = outcome_of(&(struct launcher){.version = version, .puts = puts, .other = longest});
    claim(longer.is_settled && !longer.is_same, "as is one that is too long to be ours");
}

static void oddities_check(int version)
{
    struct launcher launcher = {.version = version, .puts = put_is_right[version], .has_no_wait = true};
    claim(!outcome_of(&launcher).is_settled, "without a wait for all nothing is known");
    claim(launcher.own[0] == '\0', "and nothing is put");
    const char *fails = version == 1 ? "cmd=put_result rc=-1 msg=full" : "cmd=kvs-put-response;rc=1;";
    claim(!outcome_of(&(struct launcher){.version = version, .puts = fails}).is_settled, "a put that fails");
    const char *strange = version == 1 ? "cmd=other rc=0" : "cmd=other;rc=0;";
    claim(!outcome_of(&(struct launcher){.version = version, .puts = strange}).is_settled, "another answer");
    claim(!outcome_of(&(struct launcher){.version = version}).is_settled, "a launcher that ends");
}

/* Nothing stands before write() where nobody listens. */
static void others_check(void)
{
    int ends[2];
    claim(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "a pair of sockets");
    descriptor_tell(ends[0]);
    setenv("PMI_SIZE", "1", 1);
    store_offer("the-text", true);
    claim(write_now == write, "one rank alone");
    environment_set();
    store_offer("the-text", false);
    claim(write_now == write, "an MPI that does not speak PMI");
    setenv("PMI_FD", "1000", 1);
    store_offer("the-text", true);
    claim(write_now == write, "no descriptor");
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    environment_set();
    for (int version = 1; version <= 2; version++) {
        answers_check(version);
        oddities_check(version);
    }
    others_check();
    return 0;
}
