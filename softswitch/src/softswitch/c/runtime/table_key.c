/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Converts keys of control commands to the words that look-ups compare (see the rule in table.h). Must know no entries.
 */
#include <errno.h>

#include "runtime/internal.h"

/* The position of the next key element: `left` free bits in word `word`. */
struct key_cursor {
    unsigned word, left;
};

/* Places an element of up to 64 bits; returns its shift in cursor->word. */
static unsigned place_short(struct key_cursor *cursor, unsigned bits)
{
    if (bits > cursor->left) {
        cursor->word++;
        cursor->left = 64;
    }
    cursor->left -= bits;
    return cursor->left;
}

/* Places an element of more than 64 bits; returns its first word. */
static unsigned place_long(struct key_cursor *cursor, unsigned bits)
{
    unsigned first = cursor->word + 1;
    cursor->word += (bits + 63) / 64;
    cursor->left = 0;
    return first;
}

static const struct key_cursor START = {(unsigned)-1, 0};

unsigned sw_key_words(const struct sw_table_info *info)
{
    struct key_cursor cursor = START;
    for (unsigned i = 0; i < info->n_keys; i++) {
        if (info->keys[i].bits > 64)
            place_long(&cursor, info->keys[i].bits);
        else
            place_short(&cursor, info->keys[i].bits);
    }
    return cursor.word + 1;
}

unsigned sw_key_ranges(const struct sw_table_info *info, struct sw_range *ranges)
{
    struct key_cursor cursor = START;
    unsigned count = 0;
    for (unsigned i = 0; i < info->n_keys; i++) {
        unsigned bits = info->keys[i].bits;
        if (bits > 64) {
            place_long(&cursor, bits);
            continue;
        }
        unsigned shift = place_short(&cursor, bits);
        if (info->keys[i].kind != SW_MATCH_RANGE)
            continue;
        if (ranges)
            ranges[count] = (struct sw_range){(uint16_t)cursor.word, (uint16_t)shift, (uint16_t)bits};
        count++;
    }
    return count;
}

/* Writes an element's big-endian bytes into key words. */
static void put_element(uint64_t *words, struct key_cursor *cursor, unsigned bits, const uint8_t *bytes)
{
    unsigned n = (bits + 7) / 8;
    if (bits <= 64) {
        struct sw_value value = {bytes, (uint16_t)n};
        unsigned shift = place_short(cursor, bits);
        words[cursor->word] |= sw_value_low64(&value) << shift;
        return;
    }
    unsigned first = place_long(cursor, bits);
    for (unsigned last = cursor->word; n > 0; last--) {
        unsigned take = n < 8 ? n : 8;
        struct sw_value value = {bytes + n - take, (uint16_t)take};
        words[last] = sw_value_low64(&value);
        n -= take;
        if (last == first)
            break;
    }
}

static void fill_ones(uint8_t *bytes, unsigned bits)
{
    memset(bytes, 0xff, (bits + 7) / 8);
    if (bits % 8)
        bytes[0] = (uint8_t)((1u << (bits % 8)) - 1);
}

/* Ones in the first `prefix` of `bits` bits. */
static void fill_prefix(uint8_t *bytes, unsigned bits, unsigned prefix)
{
    memset(bytes, 0, (bits + 7) / 8);
    unsigned skip = (8 - bits % 8) % 8;
    for (unsigned i = skip; i < skip + prefix; i++)
        bytes[i / 8] |= (uint8_t)(0x80u >> (i % 8));
}

#define MOST_KEY_BYTES 256u /* a key element has at most 2048 bits */

/* Computes the mask of one element; false if the match is malformed. */
static bool element_mask(const struct sw_key_info *key, const struct sw_match *match, uint8_t *mask)
{
    if (key->bits > 8 * MOST_KEY_BYTES || !sw_value_fits(&match->value, key->bits))
        return false;
    switch (key->kind) {
    case SW_MATCH_LPM:
        if (match->prefix_bits > key->bits)
            return false;
        fill_prefix(mask, key->bits, match->prefix_bits);
        return true;
    case SW_MATCH_TERNARY:
    case SW_MATCH_OPTIONAL:
        if (!sw_value_fits(&match->mask, key->bits))
            return false;
        memcpy(mask, match->mask.bytes, match->mask.n_bytes);
        return true;
    case SW_MATCH_RANGE:
        if (!sw_value_fits(&match->mask, key->bits))
            return false;
        memset(mask, 0, match->mask.n_bytes);
        return true;
    default:
        fill_ones(mask, key->bits);
        return true;
    }
}

int sw_key_encode(const struct sw_table *t, const struct sw_match *keys, uint64_t *words, uint16_t *prefix_bits)
{
    const struct sw_table_info *info = t->info;
    struct key_cursor values = START, masks = START;
    uint64_t *mask_words = words + t->key_words;
    uint64_t *limits = words + 2u * t->key_words;
    *prefix_bits = 0;
    for (unsigned i = 0; i < info->n_keys; i++) {
        const struct sw_key_info *key = &info->keys[i];
        uint8_t mask[MOST_KEY_BYTES];
        uint8_t masked[MOST_KEY_BYTES];
        if (!element_mask(key, &keys[i], mask))
            return -EINVAL;
        if (key->kind == SW_MATCH_LPM)
            *prefix_bits = keys[i].prefix_bits;
        for (unsigned b = 0; b < keys[i].value.n_bytes; b++)
            masked[b] = keys[i].value.bytes[b] & mask[b];
        put_element(words, &values, key->bits, masked);
        if (t->scheme != SW_SCHEME_TERNARY)
            continue;
        put_element(mask_words, &masks, key->bits, mask);
        if (key->kind == SW_MATCH_RANGE) {
            *limits++ = sw_value_low64(&keys[i].value);
            *limits++ = sw_value_low64(&keys[i].mask);
        }
    }
    return 0;
}

void sw_key_prefix_mask(const struct sw_table_info *info, uint16_t prefix_bits, uint64_t *mask)
{
    struct key_cursor cursor = START;
    for (unsigned i = 0; i < info->n_keys; i++) {
        uint8_t bytes[MOST_KEY_BYTES];
        if (info->keys[i].kind == SW_MATCH_LPM)
            fill_prefix(bytes, info->keys[i].bits, prefix_bits);
        else
            fill_ones(bytes, info->keys[i].bits);
        put_element(mask, &cursor, info->keys[i].bits, bytes);
    }
}
