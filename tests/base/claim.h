/* SPDX-License-Identifier: MIT */
/* A claim that is false ends the test with exit code 1. */
#ifndef CLAIM_H
#define CLAIM_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static inline void claim(bool is_true, const char *text)
{
    if (is_true)
        return;
    fprintf(stderr, "FAILED: %s\n", text);
    exit(1);
}

#endif
