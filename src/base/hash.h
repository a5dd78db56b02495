/* SPDX-License-Identifier: MIT */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

/* A number below 2^bits (1 to 63) for a key, such as an address: multiplied by 2^64 over
 * the golden ratio, so that neighbours lie apart (Knuth, volume 3, 6.4). */
static inline uint64_t base_hash(uint64_t key, int bits)
{
    return (key * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - bits);
}

#endif
