/* SPDX-License-Identifier: MIT */
/* A library that makes memory known to a GPU by the driver's function. */
int cuMemHostRegister_v2(void *memory, unsigned long length_bytes, unsigned flags);

int plugin_register(void *memory);
int plugin_register(void *memory)
{
    return cuMemHostRegister_v2(memory, 1, 0);
}
