/* SPDX-License-Identifier: MIT */
/* Claim: a list of code knows each address once, asks of each once for each question, and counts as other what is not
 * expected, what it has no room for, and what has no address. */
#include "base/code_list.h"
#include "claim.h"

enum { EXPECTED_MAX = 100 };

static int asked;

static bool is_expected(uintptr_t code)
{
    asked++;
    return code <= EXPECTED_MAX;
}

static void each_is_asked_of_once(void)
{
    struct base_code_list list = {0};
    struct base_code_list_answer answer = {0};
    asked = 0;
    claim(!base_code_list_has_other(&list, &answer, is_expected) && asked == 0, "an empty list has nothing");
    base_code_list_add(&list, 1);
    base_code_list_add(&list, 1);
    base_code_list_add(&list, 2);
    claim(!base_code_list_has_other(&list, &answer, is_expected) && asked == 2, "each address is asked of");
    claim(!base_code_list_has_other(&list, &answer, is_expected) && asked == 2, "once");
    base_code_list_add(&list, EXPECTED_MAX + 1);
    claim(base_code_list_has_other(&list, &answer, is_expected) && asked == 3, "what comes later is asked of later");
}

static void what_has_no_room_is_other(void)
{
    struct base_code_list list = {0};
    struct base_code_list_answer answer = {0};
    for (uintptr_t code = 1; code <= BASE_CODE_LIST_MAX; code++)
        base_code_list_add(&list, code);
    claim(!base_code_list_has_other(&list, &answer, is_expected), "there is room");
    base_code_list_add(&list, BASE_CODE_LIST_MAX + 1);
    claim(base_code_list_has_other(&list, &answer, is_expected), "there is none");
}

static void what_has_no_address_is_other(void)
{
    struct base_code_list list = {0};
    struct base_code_list_answer answer = {0};
    base_code_list_add_unknown(&list);
    claim(base_code_list_has_other(&list, &answer, is_expected), "what has no address");
}

static bool is_first(uintptr_t code)
{
    return code == 1;
}

static void questions_are_apart(void)
{
    struct base_code_list list = {0};
    struct base_code_list_answer answer = {0}, other_answer = {0};
    base_code_list_add(&list, 1);
    base_code_list_add(&list, 2);
    claim(base_code_list_has_other(&list, &answer, is_first), "one question finds other code");
    claim(!base_code_list_has_other(&list, &other_answer, is_expected), "and another one does not");
}

int main(void)
{
    questions_are_apart();
    each_is_asked_of_once();
    what_has_no_room_is_other();
    what_has_no_address_is_other();
    return 0;
}
