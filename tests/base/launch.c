/* SPDX-License-Identifier: MIT */
/* Claim: each launcher's variables tell how many ranks share this host, and nothing else does; and which ranks and
 * programs Lapwing stays out of. */
#define _GNU_SOURCE
#include "base/launch.h"
#include "base/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "claim.h"

struct setting {
    const char *name;
    const char *value;
};

enum { SETTINGS_MAX = 3 };

static long ranks_with(const struct setting settings[SETTINGS_MAX])
{
    clearenv();
    for (int i = 0; i < SETTINGS_MAX && settings[i].name != NULL; i++)
        setenv(settings[i].name, settings[i].value, 1);
    return base_launch_local_ranks();
}

#define RANKS(...) ranks_with((const struct setting[SETTINGS_MAX]){__VA_ARGS__})

static long slurm(const char *list, const char *host)
{
    return RANKS({"SLURM_STEP_TASKS_PER_NODE", list}, {"SLURM_NODEID", host});
}

/* The answer is remembered: a child asks anew. */
static bool is_off_with(const struct setting settings[SETTINGS_MAX])
{
    pid_t child = fork();
    if (child == 0) {
        clearenv();
        for (int i = 0; i < SETTINGS_MAX; i++)
            if (settings[i].value != NULL)
                setenv(settings[i].name, settings[i].value, 1);
        _exit(options_are_off());
    }
    int status;
    claim(waitpid(child, &status, 0) == child && WIFEXITED(status), "the child ends");
    return WEXITSTATUS(status) != 0;
}

#define IS_OFF(...) is_off_with((const struct setting[SETTINGS_MAX]){__VA_ARGS__})

static bool is_off(const char *rank, const char *included, const char *excluded)
{
    return IS_OFF({"PMI_RANK", rank}, {"LAPWING_INCLUDE_RANKS", included}, {"LAPWING_EXCLUDE_RANKS", excluded});
}

static bool is_off_for_programs(const char *included, const char *excluded)
{
    return IS_OFF({"LAPWING_INCLUDE_PROGRAMS", included}, {"LAPWING_EXCLUDE_PROGRAMS", excluded});
}

static bool is_switched_off(const char *wish)
{
    return IS_OFF({"LAPWING", wish});
}

static void switch_check(void)
{
    claim(is_switched_off("off") && is_switched_off("OFF") && is_switched_off("Off"), "off, however it is written");
    claim(!is_switched_off("") && !is_switched_off("o") && !is_switched_off("of") && !is_switched_off("on"), "not off");
    claim(!is_switched_off("off ") && !is_switched_off("offer") && !is_switched_off("/FF"), "nor is this");
}

/* This one is called *launch, as its file is. */
static void programs_check(void)
{
    static char longest[1 << 16];
    memset(longest, 'x', sizeof longest - 1);
    claim(!is_off_for_programs(NULL, NULL) && !is_off_for_programs("", ""), "no list");
    claim(is_off_for_programs(NULL, "*launch") && is_off_for_programs(NULL, "gdb, *l[a-b]unch ,valgrind*"), "excluded");
    claim(!is_off_for_programs(NULL, "launch?,gdb") && !is_off_for_programs(NULL, "/*"), "others are");
    claim(!is_off_for_programs("gdb,*launch", NULL) && is_off_for_programs("gdb", NULL), "included");
    claim(is_off_for_programs("*launch", "*") && !is_off_for_programs("*", "gdb"), "excluded stays excluded");
    claim(!is_off_for_programs(NULL, ",,") && !is_off_for_programs(", ", NULL) && !is_off_for_programs(NULL, "[") &&
              !is_off_for_programs(NULL, longest),
          "nonsense names none");
    program_invocation_short_name = "other";
    claim(is_off_for_programs(NULL, "*launch") && is_off_for_programs(NULL, "other"), "both names count");
}

static void ranks_check(void)
{
    claim(!is_off("3", NULL, NULL) && !is_off(NULL, "1", "0-9"), "no list, or no rank");
    claim(is_off("3", NULL, "0,2-4") && !is_off("5", NULL, "0,2-4") && is_off("0", NULL, "0,2-4"), "excluded ranks");
    claim(!is_off("3", "3", NULL) && is_off("30", "3", NULL) && is_off("3", "x", NULL), "included ranks");
    claim(!is_off("3", "", NULL) && is_off("3", "", "3"), "an empty list of included ranks is none");
    claim(is_off("3", NULL, " 0, 2 - 4 ") && is_off("6", NULL, "0 ,6"), "blanks around commas and dashes");
    claim(!is_off("2", NULL, "1 2") && !is_off("12", NULL, "1 2"), "but not between ranks");
    claim(is_off("3", "0-9", "3") && !is_off("3", NULL, "") && !is_off("3", NULL, ",3"), "both, none, nonsense");
}

int main(void)
{
    switch_check();
    ranks_check();
    programs_check();
    claim(RANKS({NULL, NULL}) == 0, "nobody says");
    claim(RANKS({"OMPI_COMM_WORLD_LOCAL_SIZE", "3"}) == 3 && RANKS({"MPI_LOCALNRANKS", "1"}) == 1, "mpirun");
    claim(RANKS({"PALS_LOCAL_SIZE", "1"}) == 1 && RANKS({"PMI_LOCAL_SIZE", "4"}) == 4, "PALS, and Cray's PMI");
    claim(slurm("1", "0") == 1 && slurm("1(x2)", "1") == 1 && slurm("4(x2),3", "1") == 4, "srun");
    claim(slurm("4(x2),3", "2") == 3 && slurm("2,1,5(x3)", "1") == 1 && slurm("2,1,5(x3)", "4") == 5, "uneven");
    claim(slurm("4(x2),3", "3") == 0 && slurm("", "0") == 0 && slurm("x", "7") == 0, "a list that says nothing");
    claim(RANKS({"SLURM_TASKS_PER_NODE", "1"}, {"SLURM_NODEID", "0"}) == 0, "the allocation is not the step");
    claim(RANKS({"SLURM_STEP_TASKS_PER_NODE", "1"}, {"SLURM_NODEID", "0"}, {"MPI_LOCALNRANKS", "2"}) == 2,
          "a launcher inside a step says better");
    claim(RANKS({"FLUX_JOB_SIZE", "4"}, {"FLUX_JOB_NNODES", "4"}) == 1, "Flux, a rank each");
    claim(RANKS({"FLUX_JOB_SIZE", "5"}, {"FLUX_JOB_NNODES", "4"}) == 2, "Flux, not so");
    return 0;
}
