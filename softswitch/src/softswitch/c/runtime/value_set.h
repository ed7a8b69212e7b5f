/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Parser value sets: values that the control plane adds at run time, and that a select of the parser compares with its
 * key. A value is the concatenation of the key's elements without padding, in 64-bit words from the most significant
 * on. Codegen packs keys by the same rule.
 */
#ifndef SW_VALUE_SET_H
#define SW_VALUE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sw_value_set {
    uint64_t *values; /* `count` values of `n_words` words in rising order, without duplicates */
    uint32_t count, capacity;
    uint16_t n_words;
};

/* The position of the first value that is not below `key`. */
static inline uint32_t sw_value_set_position(const struct sw_value_set *set, const uint64_t *key, unsigned n)
{
    uint32_t low = 0, high = set->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const uint64_t *value = set->values + (size_t)middle * n;
        unsigned i = 0;

        while (i + 1 < n && value[i] == key[i])
            i++;
        if (value[i] < key[i])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static inline bool sw_value_set_equal(const uint64_t *value, const uint64_t *key, const uint64_t *mask, unsigned n)
{
    uint64_t differs = 0;

    for (unsigned i = 0; i < n; i++)
        differs |= (value[i] ^ key[i]) & (mask ? mask[i] : UINT64_MAX);
    return !differs;
}

/* True if the set contains the key, or with a mask a value that equals the key in the bits of the mask. `n` is the
 * set's n_words, a constant for the compiler. */
static inline bool sw_value_set_has(const struct sw_value_set *set, const uint64_t *key, const uint64_t *mask,
                                    unsigned n)
{
    uint32_t at = 0;

    if (!mask) {
        at = sw_value_set_position(set, key, n);
        return at < set->count && sw_value_set_equal(set->values + (size_t)at * n, key, NULL, n);
    }
    while (at < set->count && !sw_value_set_equal(set->values + (size_t)at * n, key, mask, n))
        at++;
    return at < set->count;
}

#endif /* SW_VALUE_SET_H */
