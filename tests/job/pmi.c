/* SPDX-License-Identifier: MIT */
/* Claim: what ranks have offered is known once the launcher has handed it on at its barrier, and nothing is known where
 * the launcher answers otherwise, or not at all. */
#include "job/pmi.h"

#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../base/claim.h"

/* A stand-in for Hydra, for ranks 0 and 1 of two; this process is rank 1. */
struct launcher {
    int descriptor;
    const char *puts;     /* how it answers to a put */
    bool hands_on_early;  /* it has a text as soon as it was put */
    _Atomic bool is_past; /* the barrier */
    const char *other;    /* what rank 0 has offered; NULL: nothing */
    char own[200];
};

static void say(const struct launcher *launcher, const char *line)
{
    /* In two parts, as a stream may arrive. */
    size_t half = strlen(line) / 2;
    claim(write(launcher->descriptor, line, half) == (ssize_t)half, "the first part");
    claim(write(launcher->descriptor, line + half, strlen(line) - half) > 0, "the second part");
}

static void answer_get(struct launcher *launcher, const char *line)
{
    char answer[300];
    bool is_there = launcher->is_past || launcher->hands_on_early;
    const char *text = strstr(line, "key=lapwing-1\n") != NULL ? launcher->own : launcher->other;
    if (is_there && text != NULL)
        snprintf(answer, sizeof answer, "cmd=get_result rc=0 msg=success value=%s\n", text);
    else
        snprintf(answer, sizeof answer, "cmd=get_result rc=-1 msg=key_lapwing_not_found value=unknown\n");
    say(launcher, answer);
}

static void answer(struct launcher *launcher, char *line)
{
    if (strstr(line, "cmd=init ") == line)
        say(launcher, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
    else if (strcmp(line, "cmd=get_my_kvsname\n") == 0)
        say(launcher, "cmd=my_kvsname kvsname=kvs_7_0\n");
    else if (strstr(line, "cmd=put kvsname=kvs_7_0 key=lapwing-1 value=") == line) {
        sscanf(strstr(line, "value=") + strlen("value="), "%199s", launcher->own);
        say(launcher, launcher->puts);
    } else if (strstr(line, "cmd=get kvsname=kvs_7_0 key=lapwing-") == line)
        answer_get(launcher, line);
    else
        claim(false, line);
}

static void *launcher_run(void *argument)
{
    struct launcher *launcher = argument;
    char line[1024];
    for (ssize_t length; (length = read(launcher->descriptor, line, sizeof line - 1)) > 0;) {
        line[length] = '\0';
        if (launcher->puts == NULL && strstr(line, "cmd=put") == line)
            break; /* it ends */
        answer(launcher, line);
    }
    close(launcher->descriptor);
    return NULL;
}

static struct pmi pmi;

struct outcome {
    bool is_settled_before;
    bool is_settled;
    bool is_same;
};

static struct outcome outcome_of(struct launcher *launcher)
{
    pthread_t thread;
    int ends[2];
    char number[16];
    claim(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "a pair of sockets");
    launcher->descriptor = ends[1];
    claim(pthread_create(&thread, NULL, launcher_run, launcher) == 0, "a thread");
    snprintf(number, sizeof number, "%d", ends[0]);
    setenv("PMI_FD", number, 1);
    struct outcome outcome = {0};
    pmi_offer(&pmi, "the-text");
    outcome.is_settled_before = pmi_is_settled(&pmi);
    launcher->is_past = true;
    outcome.is_settled = pmi_is_settled(&pmi);
    outcome.is_same = outcome.is_settled && pmi_is_same(&pmi, 0);
    shutdown(ends[0], SHUT_WR);
    pthread_join(thread, NULL);
    close(ends[0]);
    return outcome;
}

static const char put_is_right[] = "cmd=put_result rc=0 msg=success\n";

static void environment_set(void)
{
    setenv("PMI_RANK", "1", 1);
    setenv("PMI_SIZE", "2", 1);
    setenv("MPI_LOCALNRANKS", "2", 1);
}

static void answers_check(void)
{
    struct outcome same = outcome_of(&(struct launcher){.puts = put_is_right, .other = "the-text"});
    claim(!same.is_settled_before, "before the barrier nothing is known");
    claim(same.is_settled && same.is_same, "after it the same text is");
    struct outcome other = outcome_of(&(struct launcher){.puts = put_is_right, .other = "another-text"});
    claim(other.is_settled && !other.is_same, "another text is another");
    struct outcome none = outcome_of(&(struct launcher){.puts = put_is_right});
    claim(none.is_settled && !none.is_same, "and none is none");
    char longest[150];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    struct outcome longer = outcome_of(&(struct launcher){.puts = put_is_right, .other = longest});
    claim(longer.is_settled && !longer.is_same, "as is one that is too long to be ours");
}

static void oddities_check(void)
{
    struct outcome early = outcome_of(&(struct launcher){.puts = put_is_right, .hands_on_early = true});
    claim(!early.is_settled, "a launcher that has all at once does not tell when all is there");
    claim(!outcome_of(&(struct launcher){.puts = "cmd=put_result rc=-1 msg=full\n"}).is_settled, "a put that fails");
    claim(!outcome_of(&(struct launcher){.puts = "cmd=other rc=0\n"}).is_settled, "an answer to something else");
    claim(!outcome_of(&(struct launcher){.puts = NULL}).is_settled, "a launcher that ends");
}

/* Nobody is at the other end of the descriptor: an attempt would wait for ever. */
static void others_check(void)
{
    int ends[2];
    char number[16];
    claim(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "a pair of sockets");
    snprintf(number, sizeof number, "%d", ends[0]);
    setenv("PMI_FD", number, 1);
    static const char *const strange[][2] = {
        {"PMI_PORT", "h:1"}, {"MPIR_CVAR_PMI_VERSION", "2"}, {"PMI_SIZE", "1"}, {"MPI_LOCALNRANKS", "513"}};
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
        setenv(strange[i][0], strange[i][1], 1);
        pmi_offer(&pmi, "the-text");
        claim(!pmi_is_settled(&pmi), strange[i][0]);
        unsetenv(strange[i][0]);
        environment_set();
    }
    unsetenv("MPI_LOCALNRANKS"); /* Slurm's */
    pmi_offer(&pmi, "the-text");
    claim(!pmi_is_settled(&pmi), "no Hydra");
    setenv("PMI_FD", "1000", 1);
    environment_set();
    pmi_offer(&pmi, "the-text");
    claim(!pmi_is_settled(&pmi), "no descriptor");
}

int main(void)
{
    environment_set();
    answers_check();
    oddities_check();
    others_check();
    return 0;
}
