/* SPDX-License-Identifier: MIT */
/* Open MPI lets all ranks wait for each other in MPI_Init while the launcher collects their addresses (PMIx_Fence_nb
 * with PMIX_COLLECT_DATA). So we stand before that function of the PMIx library, and hand our text in just before it:
 * no further wait. Where an MPI does not come by (its PMIx is built in), or lets the launcher not collect (an
 * asynchronous start), nothing is offered: a text that others can see must be one whose rank will answer. */
#include "job/pmix.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/behind.h"
#include "base/launch.h"
#include "base/text.h"
#include "job/offer.h"

/* As much of the PMIx standard's ABI as is needed (4.1, chapter 3; the same in OpenPMIx 2 to 5). */
enum { PMIX_SUCCESS = 0, PMIX_ERR_INIT = -31 };
enum { PMIX_GLOBAL = 3 };
enum { PMIX_BOOL = 1, PMIX_STRING = 3 };
enum { PMIX_KEY_BYTES = 512, PMIX_NAMESPACE_BYTES = 256 };

struct pmix_proc {
    char nspace[PMIX_NAMESPACE_BYTES];
    uint32_t rank;
};

struct pmix_value {
    uint16_t type;
    union {
        bool flag;
        char *string;
        void *longest[3];
    } data;
};

struct pmix_info {
    char key[PMIX_KEY_BYTES];
    uint32_t flags;
    struct pmix_value value;
};

/* What is looked up: who has published it, and what. */
struct pmix_pdata {
    struct pmix_proc proc;
    char key[PMIX_KEY_BYTES];
    struct pmix_value value;
};

_Static_assert(sizeof(struct pmix_proc) == 260, "pmix_proc_t");
_Static_assert(sizeof(struct pmix_info) == 552 && offsetof(struct pmix_info, value) == 520, "pmix_info_t");
_Static_assert(sizeof(struct pmix_pdata) == 808 && offsetof(struct pmix_pdata, value) == 776, "pmix_pdata_t");

typedef void pmix_done_fn(int status, void *context);
typedef int pmix_commit_fn(void);
typedef int pmix_fence_fn(const struct pmix_proc *procs, size_t proc_count, const struct pmix_info *infos,
                          size_t info_count, pmix_done_fn *done, void *context);
typedef int pmix_put_fn(uint8_t scope, const char *key, struct pmix_value *value);
typedef int pmix_get_fn(const struct pmix_proc *proc, const char *key, const struct pmix_info *infos, size_t info_count,
                        struct pmix_value **value);
typedef int pmix_publish_fn(const struct pmix_info *infos, size_t info_count);
typedef int pmix_lookup_fn(struct pmix_pdata *data, size_t data_count, const struct pmix_info *infos,
                           size_t info_count);

static const char key_own[] = "lapwing";
static const char key_collect[] = "pmix.collect";
static const char key_immediate[] = "pmix.immediate"; /* ask the launcher on this host, which must not wait */

/* PRRTE, of Open MPI 5, fetches a rank's texts from another host when somebody asks for one, and then waits for texts
 * that are never offered; what it has at hand differs from host to host. But there is one place for what is published,
 * which answers at once whether something is there. */
static void name_write(char name[PMIX_KEY_BYTES], int rank)
{
    snprintf(name, PMIX_KEY_BYTES, "%s.%s.%d", key_own, getenv("PMIX_NAMESPACE"), rank);
}

static bool text_publish(const void *caller)
{
    pmix_publish_fn *publish = (pmix_publish_fn *)base_behind(caller, "PMIx_Publish");
    struct pmix_info info = {.value = {.type = PMIX_STRING, .data.string = (char *)offer.text}};
    name_write(info.key, offer.rank);
    offer.ask = (offer_function_fn *)base_behind(caller, "PMIx_Lookup");
    return publish != NULL && offer.ask != NULL && publish(&info, 1) == PMIX_SUCCESS;
}

/* Beside the addresses, which MPI has committed before. */
static bool text_put(const void *caller)
{
    pmix_put_fn *put = (pmix_put_fn *)base_behind(caller, "PMIx_Put");
    pmix_commit_fn *commit = (pmix_commit_fn *)base_behind(caller, "PMIx_Commit");
    struct pmix_value value = {.type = PMIX_STRING, .data.string = (char *)offer.text};
    offer.ask = (offer_function_fn *)base_behind(caller, "PMIx_Get");
    return put != NULL && commit != NULL && offer.ask != NULL && put(PMIX_GLOBAL, key_own, &value) == PMIX_SUCCESS &&
           commit() == PMIX_SUCCESS;
}

static bool is_collecting(const struct pmix_info *infos, size_t info_count)
{
    bool is_first = info_count == 1 && strcmp(infos->key, key_collect) == 0; /* as Open MPI calls it */
    return is_first && infos->value.type == PMIX_BOOL && infos->value.data.flag;
}

/* Before the function of that name, for all that call it, inside MPI_Init and elsewhere. */
int pmix_fence(const struct pmix_proc *procs, size_t proc_count, const struct pmix_info *infos, size_t info_count,
               pmix_done_fn *done, void *context) __asm__("PMIx_Fence_nb") __attribute__((visibility("default")));
int pmix_fence(const struct pmix_proc *procs, size_t proc_count, const struct pmix_info *infos, size_t info_count,
               pmix_done_fn *done, void *context)
{
    const void *caller = __builtin_return_address(0);
    pmix_fence_fn *fence = (pmix_fence_fn *)base_behind(caller, "PMIx_Fence_nb");
    bool is_of_all = procs == NULL && proc_count == 0;
    /* It is over when MPI_Init is: that is what MPI begins it for. */
    if (fence != NULL && offer.text != NULL && !offer.is_there && is_of_all && is_collecting(infos, info_count))
        offer.is_there = offer.is_published ? text_publish(caller) : text_put(caller);
    return fence == NULL ? PMIX_ERR_INIT : fence(procs, proc_count, infos, info_count, done, context);
}

static bool job_is_on_one_host(void)
{
    long ranks = base_launch_number("OMPI_COMM_WORLD_SIZE");
    return ranks > 0 && base_launch_number("OMPI_COMM_WORLD_LOCAL_SIZE") == ranks;
}

/* Is what was collected on every host, before MPI_Init is over? Open MPI 4's own launcher (orted) sends it there, and
 * so does Slurm's plugin (src/plugins/mpi/pmix, pmixp_coll.c: each fence gathers all hosts' texts on all of them). The
 * launcher tells all ranks the same. */
static bool launcher_shows_all(void)
{
    return job_is_on_one_host() || getenv("OMPI_MCA_orte_hnp_uri") != NULL ||
           base_text_begins(getenv("PMIX_NAMESPACE"), "slurm.pmix.");
}

void pmix_offer(void)
{
    offer.rank = (int)base_launch_number("PMIX_RANK");
    offer.is_published = !job_is_on_one_host() && base_text_begins(getenv("PMIX_NAMESPACE"), "prterun-");
    if (offer.rank < 0 || (!offer.is_published && !launcher_shows_all()))
        offer.text = NULL;
}

static bool is_text(const struct pmix_value *value)
{
    return value->type == PMIX_STRING && value->data.string != NULL && strcmp(value->data.string, offer.text) == 0;
}

/* As PMIX_VALUE_RELEASE, a macro of the header. */
static void value_free(struct pmix_value *value)
{
    if (value->type == PMIX_STRING)
        free(value->data.string);
    free(value);
}

static bool is_put_same(int rank)
{
    struct pmix_proc proc = {.rank = (uint32_t)rank};
    struct pmix_info immediate = {.value = {.type = PMIX_BOOL, .data.flag = true}};
    struct pmix_value *value = NULL;
    snprintf(proc.nspace, sizeof proc.nspace, "%s", getenv("PMIX_NAMESPACE"));
    snprintf(immediate.key, sizeof immediate.key, "%s", key_immediate);
    if (((pmix_get_fn *)offer.ask)(&proc, key_own, &immediate, 1, &value) != PMIX_SUCCESS || value == NULL)
        return false;
    bool is_same = is_text(value);
    value_free(value);
    return is_same;
}

static bool is_published_same(int rank)
{
    struct pmix_pdata data = {.value = {.type = 0}};
    name_write(data.key, rank);
    if (((pmix_lookup_fn *)offer.ask)(&data, 1, NULL, 0) != PMIX_SUCCESS)
        return false;
    bool is_same = is_text(&data.value);
    if (data.value.type == PMIX_STRING)
        free(data.value.data.string);
    return is_same;
}

bool pmix_is_same(int rank)
{
    return offer.is_published ? is_published_same(rank) : is_put_same(rank);
}
