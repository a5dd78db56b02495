/* SPDX-License-Identifier: MIT */
/* Reads the environment into `options`. The rows are made from options.toml.
 * A bad value must not end somebody's job: the default stays, and the first
 * one is remembered. No locale, no allocation: this runs before main. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"
#include "base/options_table.h"
#include "base/selection.h"

/* A choice's field is written through `unsigned`: all option enums must be that wide. */
_Static_assert(sizeof(enum option_hold) == sizeof(unsigned), "enum option_hold is not an unsigned");
_Static_assert(sizeof(enum option_progress) == sizeof(unsigned), "enum option_progress is not an unsigned");

/* Digits only: strtoull would take signs, blanks and octal. NULL when there are none or too many. */
static const char *options_digits_read(const char *text, uint64_t *number)
{
    const char *at = text;
    uint64_t sum = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, (uint64_t)(*at - '0'), &sum))
            return NULL;
    }
    *number = sum;
    return at == text ? NULL : at;
}

/* 2^this is the unit's size in bytes; -1 when there is no such unit. */
static int options_unit_shift(const char *unit)
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(unit, units[i]) == 0)
            return 10 * i;
    }
    return -1;
}

static bool options_number_read(const struct options_table_row *row, const char *text)
{
    uint64_t number = 0;
    const char *unit = options_digits_read(text, &number);
    int shift = unit ? options_unit_shift(unit) : -1;
    if (shift < 0 || (shift > 0 && row->type != OPTIONS_TABLE_BYTES) || number > (UINT64_MAX >> shift))
        return false;
    number <<= shift;
    if (number < row->minimum || number > row->maximum)
        return false;
    *(uint64_t *)row->field = number;
    return true;
}

static bool options_switch_read(const struct options_table_row *row, const char *text)
{
    bool is_on = strcmp(text, "on") == 0;
    if (!is_on && strcmp(text, "off") != 0)
        return false;
    *(bool *)row->field = is_on;
    return true;
}

static bool options_choice_read(const struct options_table_row *row, const char *text)
{
    for (unsigned i = 0; row->choices[i]; i++) {
        if (strcmp(text, row->choices[i]) == 0) {
            *(unsigned *)row->field = i;
            return true;
        }
    }
    return false;
}

static bool options_value_read(const struct options_table_row *row, const char *text)
{
    if (row->type == OPTIONS_TABLE_SWITCH)
        return options_switch_read(row, text);
    if (row->type == OPTIONS_TABLE_CHOICE)
        return options_choice_read(row, text);
    return options_number_read(row, text);
}

/* In most processes that a job's scripts start there is none, and looking once is cheaper than once for each. */
static bool options_are_given(void)
{
    static const char beginning[] = "LAPWING_";
    bool is_found = false;
    for (char **variable = environ; variable != NULL && *variable != NULL && !is_found; variable++)
        is_found = strncmp(*variable, beginning, sizeof beginning - 1) == 0;
    return is_found;
}

void options_read(void)
{
    size_t count = options_are_given() ? options_table_count : 0;
    for (size_t i = 0; i < count; i++) {
        const char *text = getenv(options_table_rows[i].variable);
        if (!text || options_value_read(&options_table_rows[i], text) || options.notice[0])
            continue;
        snprintf(options.notice, sizeof options.notice, "bad value %s=%.24s", options_table_rows[i].variable, text);
    }
}

static uint64_t options_value(const struct options_table_row *row)
{
    if (row->type == OPTIONS_TABLE_SWITCH)
        return *(const bool *)row->field;
    if (row->type == OPTIONS_TABLE_CHOICE)
        return *(const unsigned *)row->field;
    return *(const uint64_t *)row->field;
}

/* FNV-1a, of 64 bits at a time. */
uint64_t options_fingerprint(void)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < options_table_count; i++)
        sum = (sum ^ options_value(&options_table_rows[i])) * UINT64_C(0x100000001b3);
    return sum;
}

/* In capitals, too: who writes that means no other thing. */
static bool says_off(const char *text)
{
    static const char off[] = "off";
    size_t i = 0;
    while (i < sizeof off - 1 && (text[i] | ('a' - 'A')) == off[i])
        i++;
    return i == sizeof off - 1 && text[i] == '\0';
}

bool options_are_off(void)
{
    /* relaxed: every thread that finds nothing reads the same environment. */
    enum options_presence known = atomic_load_explicit(&options.presence, memory_order_relaxed);
    if (known != OPTIONS_UNKNOWN)
        return known == OPTIONS_OFF;
    const char *wish = getenv("LAPWING");
    bool is_off = (wish != NULL && says_off(wish)) || (options_are_given() && base_selection_leaves_out());
    known = is_off ? OPTIONS_OFF : OPTIONS_ON;
    atomic_store_explicit(&options.presence, known, memory_order_relaxed);
    return known == OPTIONS_OFF;
}
