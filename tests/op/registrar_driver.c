/* SPDX-License-Identifier: MIT */
/* Stands in for libcuda.so.1. */
int cuMemHostRegister_v2(void *memory, unsigned long length_bytes, unsigned flags);
int cuMemHostRegister_v2(void *memory, unsigned long length_bytes, unsigned flags)
{
    return memory == (void *)0 && length_bytes == 0 && flags == 0;
}
