/* SPDX-License-Identifier: MIT */
/* Claim: whatever bytes the environment holds, the options stay within their limits. For the sanitizers above all. */
#include <string.h>

#include "base/options.h"
#include "base/options_table.h"
#include "claim.h"

enum { TURNS = 200000, LENGTH_MOST = 120 };

/* Mostly pieces of good values, so that the deeper paths are reached. */
static void value_make(char *value)
{
    static const char *const pieces[] = {"1",   "0",    "9999999999", "KiB",  "GiB", "on",
                                         "off", "auto", "user",       "\x80", "-",   " "};
    size_t length = 0;
    value[0] = 0;
    for (int count = rand() % 6; count > 0; count--) {
        const char *piece = pieces[rand() % 12];
        if (length + strlen(piece) < LENGTH_MOST)
            length += (size_t)sprintf(value + length, "%s", piece);
    }
    while (rand() % 8 == 0 && length + 1 < LENGTH_MOST) {
        value[length++] = (char)(1 + rand() % 255);
        value[length] = 0;
    }
}

static void number_check(const struct options_table_row *row)
{
    uint64_t number = *(uint64_t *)row->field;
    claim(number >= row->minimum && number <= row->maximum, row->variable);
}

static void row_check(const struct options_table_row *row)
{
    unsigned choices = 0;
    if (row->type == OPTIONS_TABLE_SWITCH) {
        claim(*(unsigned char *)row->field <= 1, row->variable);
        return;
    }
    if (row->type != OPTIONS_TABLE_CHOICE) {
        number_check(row);
        return;
    }
    while (row->choices[choices])
        choices++;
    claim(*(unsigned *)row->field < choices, row->variable);
}

int main(void)
{
    char value[LENGTH_MOST + 1];
    srand(7);
    for (int turn = 0; turn < TURNS; turn++) {
        const struct options_table_row *row = &options_table_rows[(size_t)rand() % options_table_count];
        value_make(value);
        setenv(row->variable, value, 1);
        if (turn % 4 == 0)
            options_read();
        row_check(row);
    }
    claim(strlen(options.notice) < 64, "the notice fits the record");
    return 0;
}
