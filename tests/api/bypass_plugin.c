/* SPDX-License-Identifier: MIT */
/* A plugin that refers to one function, by the name that the build gives. */
int BYPASS_NAME(void) BYPASS_ATTRIBUTE;

__attribute__((visibility("default"))) int plugin_call(void);
__attribute__((visibility("default"))) int plugin_call(void)
{
    return BYPASS_NAME();
}
