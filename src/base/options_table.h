/* SPDX-License-Identifier: MIT */
/* The option reader's rows, made from options.toml. Only for options.c. */
#ifndef BASE_OPTIONS_TABLE_H
#define BASE_OPTIONS_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum options_table_type { OPTIONS_TABLE_BYTES, OPTIONS_TABLE_COUNT, OPTIONS_TABLE_SWITCH, OPTIONS_TABLE_CHOICE };

struct options_table_row {
    const char *variable; /* environment variable */
    enum options_table_type type;
    uint64_t minimum;           /* numbers only */
    uint64_t maximum;           /* numbers only */
    const char *const *choices; /* ended by NULL; choices only */
    void *field;                /* in `options`: uint64_t, bool (switch) or an enum (choice) */
};

extern const struct options_table_row options_table_rows[];
extern const size_t options_table_count;

#endif
