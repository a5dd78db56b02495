/* SPDX-License-Identifier: MIT */
int plugin_answer(void);
__attribute__((visibility("default"))) int plugin_answer(void)
{
    return 42;
}
