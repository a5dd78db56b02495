/* SPDX-License-Identifier: MIT */
/* Addresses of code of which somebody asks later in which library they lie. The answer takes the loader's lock; where
 * the code is met, this very thread may be what a constructor waits for under that lock. */
#ifndef BASE_CODE_LIST_H
#define BASE_CODE_LIST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { BASE_CODE_LIST_MAX = 16 };

/* All zero: empty. codes: each once, in the order of their coming. has_unknown: some code is not among them; never
 * cleared. Any thread; relaxed, all of it. */
struct base_code_list {
    _Atomic uintptr_t codes[BASE_CODE_LIST_MAX];
    _Atomic bool has_unknown;
};

/* What one question has found so far. asked: of so many codes. has_other: some code is none of those that are looked
 * for; never cleared. Any thread; relaxed: two that ask at once hear the same. */
struct base_code_list_answer {
    _Atomic uint32_t asked;
    _Atomic bool has_other;
};

/* Code that there is no room for is unknown. */
void base_code_list_add(struct base_code_list *list, uintptr_t code);

/* There is code of which no address is known. */
void base_code_list_add_unknown(struct base_code_list *list);

/* Is there code that is_expected() says no of? Unknown code counts as such. answer: always the same for this question.
 */
bool base_code_list_has_other(const struct base_code_list *list, struct base_code_list_answer *answer,
                              bool (*is_expected)(uintptr_t code));

#endif
