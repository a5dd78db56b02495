/* SPDX-License-Identifier: MIT */
#include "base/code_list.h"

void base_code_list_add_other(struct base_code_list *list)
{
    atomic_store_explicit(&list->has_other, true, memory_order_relaxed);
}

static bool code_list_is_decided(const struct base_code_list *list)
{
    return atomic_load_explicit(&list->has_other, memory_order_relaxed);
}

static bool code_list_enter(struct base_code_list *list, uintptr_t code)
{
    for (int i = 0; i < BASE_CODE_LIST_MAX; i++) {
        uintptr_t entered = 0;
        if (atomic_compare_exchange_strong_explicit(&list->codes[i], &entered, code, memory_order_relaxed,
                                                    memory_order_relaxed) ||
            entered == code)
            return true;
    }
    return false;
}

void base_code_list_add(struct base_code_list *list, uintptr_t code)
{
    if (!code_list_is_decided(list) && !code_list_enter(list, code))
        base_code_list_add_other(list);
}

bool base_code_list_has_other(struct base_code_list *list, bool (*is_expected)(uintptr_t code))
{
    uint32_t asked = atomic_load_explicit(&list->asked, memory_order_relaxed);
    for (; asked < BASE_CODE_LIST_MAX; asked++) {
        uintptr_t code = atomic_load_explicit(&list->codes[asked], memory_order_relaxed);
        if (code == 0)
            break;
        if (!is_expected(code))
            base_code_list_add_other(list);
    }
    atomic_store_explicit(&list->asked, asked, memory_order_relaxed);
    return code_list_is_decided(list);
}
