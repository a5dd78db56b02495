/* SPDX-License-Identifier: MIT */
#include "base/code_list.h"

void base_code_list_add_unknown(struct base_code_list *list)
{
    atomic_store_explicit(&list->has_unknown, true, memory_order_relaxed);
}

static bool code_list_has_unknown(const struct base_code_list *list)
{
    return atomic_load_explicit(&list->has_unknown, memory_order_relaxed);
}

static bool code_list_enter(struct base_code_list *list, uintptr_t code)
{
    for (int i = 0; i < BASE_CODE_LIST_MAX; i++) {
        uintptr_t entered = atomic_load_explicit(&list->codes[i], memory_order_relaxed);
        if (entered == 0) /* after a lost race it holds the winner's code */
            atomic_compare_exchange_strong_explicit(&list->codes[i], &entered, code, memory_order_relaxed,
                                                    memory_order_relaxed);
        if (entered == 0 || entered == code)
            return true;
    }
    return false;
}

void base_code_list_add(struct base_code_list *list, uintptr_t code)
{
    if (!code_list_has_unknown(list) && !code_list_enter(list, code))
        base_code_list_add_unknown(list);
}

static void answer_find(const struct base_code_list *list, struct base_code_list_answer *answer,
                        bool (*is_expected)(uintptr_t code))
{
    uint32_t asked = atomic_load_explicit(&answer->asked, memory_order_relaxed);
    for (; asked < BASE_CODE_LIST_MAX; asked++) {
        uintptr_t code = atomic_load_explicit(&list->codes[asked], memory_order_relaxed);
        if (code == 0)
            break;
        if (!is_expected(code))
            atomic_store_explicit(&answer->has_other, true, memory_order_relaxed);
    }
    atomic_store_explicit(&answer->asked, asked, memory_order_relaxed);
}

bool base_code_list_has_other(const struct base_code_list *list, struct base_code_list_answer *answer,
                              bool (*is_expected)(uintptr_t code))
{
    answer_find(list, answer, is_expected);
    return code_list_has_unknown(list) || atomic_load_explicit(&answer->has_other, memory_order_relaxed);
}
