/* SPDX-License-Identifier: MIT */
/* Claim: good values are taken, bad ones leave the default and are named once. */
#include <string.h>

#include "base/options.h"
#include "claim.h"

struct size_case {
    const char *text;
    uint64_t bytes; /* 0: a bad value */
};

static const struct size_case size_cases[] = {
    {"1", 1},
    {"65537", 65537},
    {"64KiB", 65536},
    {"3MiB", 3 << 20},
    {"2GiB", UINT64_C(2) << 30},
    {"18446744073709551615", UINT64_MAX},
    {"18446744073709551616", 0},
    {"99999999999GiB", 0},
    {"0", 0},
    {"", 0},
    {"-1", 0},
    {" 1", 0},
    {"1 ", 0},
    {"1kB", 0},
    {"KiB", 0},
    {"0x10", 0},
    {"1.5MiB", 0},
};

static void sizes_check(void)
{
    for (size_t i = 0; i < sizeof size_cases / sizeof size_cases[0]; i++) {
        options.threshold_bytes = 4242;
        setenv("LAPWING_THRESHOLD", size_cases[i].text, 1);
        options_read();
        claim(options.threshold_bytes == (size_cases[i].bytes ? size_cases[i].bytes : 4242), size_cases[i].text);
    }
    unsetenv("LAPWING_THRESHOLD");
}

static void choices_check(void)
{
    setenv("LAPWING_HOLD", "userfaultfd-user", 1);
    setenv("LAPWING_PROGRESS", "poll", 1);
    setenv("LAPWING_LEARN", "off", 1);
    options_read();
    claim(options.hold == OPTION_HOLD_USERFAULTFD_USER, "a choice");
    claim(options.progress == OPTION_PROGRESS_POLL, "another choice");
    claim(!options.learn, "a switch");
    setenv("LAPWING_HOLD", "userfault", 1);
    setenv("LAPWING_LEARN", "OFF!", 1);
    options_read();
    claim(options.hold == OPTION_HOLD_USERFAULTFD_USER, "no such choice");
    claim(!options.learn, "no such position of a switch");
}

int main(void)
{
    options_read();
    claim(options.threshold_bytes == 65536 && options.hold == OPTION_HOLD_AUTO && options.learn, "the defaults");
    claim(options.notice[0] == 0, "nothing to say about the defaults");
    setenv("LAPWING_PROFILE_COST", "100000", 1);
    setenv("LAPWING_TIMELINE", "1KiB", 1);
    options_read();
    claim(options.profile_cost == 6 && options.timeline == 0, "out of range, and a unit for a plain number");
    claim(strstr(options.notice, "LAPWING_PROFILE_COST=100000") != NULL, "the first bad value is named");
    sizes_check();
    choices_check();
    claim(strstr(options.notice, "LAPWING_PROFILE_COST=100000") != NULL, "and stays the one named");
    return 0;
}
