/* SPDX-License-Identifier: MIT */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <string.h>

/* Not by libc's functions: see scope_make() in libc/real.c. */
static inline bool base_text_begins(const char *text, const char *beginning)
{
    while (*beginning != '\0' && *beginning == *text) {
        beginning++;
        text++;
    }
    return *beginning == '\0';
}

static inline bool base_text_is(const char *text, const char *other)
{
    while (*text != '\0' && *text == *other) {
        text++;
        other++;
    }
    return *text == *other;
}

static inline bool base_text_begins_any(const char *text, const char *const beginnings[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (base_text_begins(text, beginnings[i]))
            return true;
    return false;
}

/* What stands behind the last slash. */
static inline const char *base_text_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static inline bool base_text_ends(const char *text, const char *ending)
{
    size_t length = strlen(text);
    size_t ending_length = strlen(ending);
    return length >= ending_length && strcmp(text + length - ending_length, ending) == 0;
}

#endif
