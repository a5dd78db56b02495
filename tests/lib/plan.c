/* SPDX-License-Identifier: MIT */
/* Claim: a rank gives up one whole core of its own, or says why not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/claim.h"
#include "base/cores.h"
#include "lib/plan.h"

static void siblings_none(int processor, cpu_set_t *siblings)
{
    CPU_ZERO(siblings);
    CPU_SET(processor, siblings);
}

/* 16 processors: n and n + 8 are one core. */
static void siblings_by_eight(int processor, cpu_set_t *siblings)
{
    siblings_none(processor, siblings);
    CPU_SET((processor + 8) % 16, siblings);
}

struct example {
    const char *mask;
    long local_ranks;
    long online;
    plan_siblings_fn *siblings;
    const char *program; /* "": refused */
    const char *engine;
};

static const struct example examples[] = {
    {"0-3", 2, 8, siblings_none, "0-2", "3"},
    {"0-3", 0, 8, siblings_none, "0-2", "3"},
    {"4", 2, 8, siblings_none, "", ""},
    {"0-7", 2, 8, siblings_none, "", ""}, /* not bound: both may use everything */
    {"0-7", 1, 8, siblings_none, "0-6", "7"},
    {"0-1,8-9", 4, 16, siblings_by_eight, "0,8", "1,9"},
    {"3,11", 4, 16, siblings_by_eight, "", ""},    /* two threads of one core */
    {"0-3", 4, 16, siblings_by_eight, "0-2", "3"}, /* the sibling is somebody else's */
};

static void try_example(const struct example *example)
{
    cpu_set_t mask;
    char program[64] = "";
    char engine[64] = "";
    base_cores_parse(example->mask, &mask);
    struct plan plan = plan_cores(&mask, example->local_ranks, example->online, example->siblings);
    claim((plan.refusal != NULL) == (example->program[0] == '\0'),
          "refused when nothing can be given up, and only then");
    if (plan.refusal != NULL)
        return;
    base_cores_format(&plan.program, program, sizeof program);
    base_cores_format(&plan.engine, engine, sizeof engine);
    claim(strcmp(program, example->program) == 0 && strcmp(engine, example->engine) == 0, example->mask);
}

int main(void)
{
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++)
        try_example(&examples[i]);
    return 0;
}
