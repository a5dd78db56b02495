/* SPDX-License-Identifier: MIT */
/* The option reader's rows, made from options.toml. Only for options.c. */
#ifndef BASE_OPTIONS_TABLE_H
#define BASE_OPTIONS_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum option_type { OPTION_TYPE_BYTES, OPTION_TYPE_COUNT, OPTION_TYPE_US, OPTION_TYPE_SWITCH, OPTION_TYPE_CHOICE };

struct option_row {
    const char *variable; /* environment variable */
    enum option_type type;
    uint64_t minimum;           /* numbers only */
    uint64_t maximum;           /* numbers only */
    const char *const *choices; /* ended by NULL; choices only */
    void *field;                /* in `options`: uint64_t, bool (switch) or an enum (choice) */
};

extern const struct option_row option_rows[];
extern const size_t option_row_count;

#endif
