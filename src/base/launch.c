/* SPDX-License-Identifier: MIT */
#include "base/launch.h"

#include <stdlib.h>
#include <string.h>

/* The first of these that is set; NULL when none is. names: ends with NULL. */
static const char *name_of(const char *const *names)
{
    while (*names != NULL && getenv(*names) == NULL)
        names++;
    return *names;
}

static const char *variable_of(const char *const *names)
{
    const char *name = name_of(names);
    return name == NULL ? NULL : getenv(name);
}

long base_launch_number(const char *name)
{
    const char *text = getenv(name);
    return text == NULL || *text < '0' || *text > '9' ? -1 : strtol(text, NULL, 10);
}

static const char *const rank_names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", NULL};

const char *base_launch_rank(void)
{
    return variable_of(rank_names);
}

const char *base_launch_rank_variable(void)
{
    return name_of(rank_names);
}

bool base_launch_is_of_job(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", NULL};
    return name_of(names) != NULL;
}

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " ");
}

/* "4" or "4-7", with or without blanks around: where it ends. */
static const char *list_range(const char *text, long *first, long *last)
{
    char *end;
    *first = strtol(text, &end, 10);
    *last = *first;
    const char *rest = skip_blanks(end);
    if (*rest != '-')
        return rest;
    *last = strtol(rest + 1, &end, 10);
    return skip_blanks(end);
}

bool base_launch_list_has(const char *list, long number)
{
    bool is_found = false;
    list = skip_blanks(list);
    while (*list >= '0' && *list <= '9' && !is_found) {
        long first;
        long last;
        list = list_range(list, &first, &last);
        is_found = first <= number && number <= last;
        list = *list == ',' ? skip_blanks(list + 1) : "";
    }
    return is_found;
}

/* The entry of a host in a list like "2(x3),1": two ranks on each of three hosts, one on the next. */
static long list_entry(const char *list, long host)
{
    long ranks = 0;
    while (host >= 0) {
        char *rest;
        ranks = strtol(list, &rest, 10);
        long hosts = rest[0] == '(' && rest[1] == 'x' ? strtol(rest + 2, &rest, 10) : 1;
        rest += *rest == ')';
        bool is_last = *rest != ',';
        host -= hosts > 0 ? hosts : 1;
        if (is_last && host >= 0)
            return 0;
        list = rest + 1;
    }
    return ranks;
}

/* Of the job step: the allocation's list may be another. */
static long slurm_ranks(void)
{
    const char *list = getenv("SLURM_STEP_TASKS_PER_NODE");
    const char *host = getenv("SLURM_NODEID");
    return list == NULL || host == NULL ? 0 : list_entry(list, atol(host));
}

/* Only how many there are on the fullest host, were they spread evenly. */
static long flux_ranks(void)
{
    long ranks = base_launch_number("FLUX_JOB_SIZE");
    long hosts = base_launch_number("FLUX_JOB_NNODES");
    return ranks <= 0 || hosts <= 0 ? 0 : (ranks + hosts - 1) / hosts;
}

long base_launch_local_ranks(void)
{
    static const char *const names[] = {
        "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PMIX_LOCAL_SIZE", "PALS_LOCAL_SIZE", "PMI_LOCAL_SIZE", NULL};
    const char *text = variable_of(names);
    if (text != NULL)
        return atol(text);
    long ranks = slurm_ranks();
    return ranks != 0 ? ranks : flux_ranks();
}
