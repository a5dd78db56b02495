/* SPDX-License-Identifier: MIT */
/* Claim: a set of processors survives being written and read; what is no list gives an empty set. */
#include <string.h>

#include "base/cores.h"
#include "claim.h"

static void expect_same(const char *text, const char *written)
{
    char buffer[64];
    cpu_set_t cores;
    claim(base_cores_parse(text, &cores), text);
    base_cores_format(&cores, buffer, sizeof buffer);
    claim(strcmp(buffer, written) == 0, written);
}

static void expect_none(const char *text)
{
    cpu_set_t cores;
    claim(!base_cores_parse(text, &cores) && CPU_COUNT(&cores) == 0, text);
}

int main(void)
{
    char little[6];
    cpu_set_t cores;
    expect_same("0", "0");
    expect_same("0-3,8\n", "0-3,8");
    expect_same("5,4,3", "3-5");
    expect_same("1,3,5-6", "1,3,5-6");
    expect_none("");
    expect_none("a");
    expect_none("3-");
    expect_none("5-3");
    expect_none("1,");
    expect_none("1;2");
    expect_none("-1");
    expect_none("99999");
    base_cores_parse("1,3,5,7,9", &cores);
    base_cores_format(&cores, little, sizeof little);
    claim(strcmp(little, "1,3,5") == 0, "cut at a whole number");
    return 0;
}
