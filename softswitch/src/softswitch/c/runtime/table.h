/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Match tables: the memory layout of entries and keys, and the look-ups, inline because they are the hot path.
 * Changes to tables are in table.c. A table must know neither the meaning of actions nor packets.
 *
 * A key is an array of 64-bit words. Its elements are packed in order. An element of up to 64 bits goes into the
 * current word, most significant bits first, or starts the next word if it does not fit. A longer element starts a new
 * word and takes (bits + 63) / 64 words, most significant first, with the first word right-aligned. Codegen packs keys
 * by the same rule.
 */
#ifndef SW_TABLE_H
#define SW_TABLE_H

#include <stdbool.h>

#include "runtime/pipeline.h"

#define SW_NO_ACTION (-1)
#define SW_LPM_MOST_WORDS 8u /* maximum size of a key with a longest-prefix element; codegen refuses more */

enum sw_entry_kind { SW_ENTRY_DIRECT, SW_ENTRY_MEMBER, SW_ENTRY_GROUP };

/*
 * An entry. `words` holds, in this order: the action's arguments, the key, for ternary tables the masks, and for tables
 * with ranges the (low, high) of each. An argument of up to 64 bits is one word, of up to 128 bits two words (high,
 * low); a longer argument is stored as big-endian bytes in whole words.
 */
struct sw_entry {
    int32_t action;     /* id, or SW_NO_ACTION */
    uint32_t index;     /* position in the table */
    uint32_t reference; /* member or group, when indirect */
    uint8_t kind;       /* enum sw_entry_kind */
    bool hit;           /* false for a default entry */
    bool used;
    uint8_t version; /* reuse count in the entry's handle */
    int32_t priority;
    uint32_t unused;
    uint64_t words[];
};

struct sw_slot {
    uint32_t hash;
    uint32_t entry; /* index + 1; 0 is free */
};

struct sw_range {
    uint16_t word, shift, bits;
};

enum sw_scheme { SW_SCHEME_KEYLESS, SW_SCHEME_EXACT, SW_SCHEME_LPM, SW_SCHEME_TERNARY };

/* What a look-up reads comes first. */
struct sw_table {
    uint32_t count, slot_mask;
    struct sw_slot *slots; /* exact and LPM: open addressing, linear probing */
    uint8_t *entries;
    uint32_t stride; /* bytes per entry */
    uint16_t arg_words, key_words;
    struct sw_entry *miss; /* the default entry */
    uint16_t *prefixes;
    uint64_t *prefix_masks; /* key_words words per prefix length, in the order of `prefixes` */
    uint16_t n_prefixes;    /* LPM: prefix lengths in use, longest first */
    uint16_t n_ranges;
    uint32_t capacity, first_free;
    enum sw_scheme scheme;
    const struct sw_table_info *info;
    uint32_t *prefix_counts; /* number of entries by prefix length */
    uint32_t *order;         /* ternary: entries by (priority, index) */
    struct sw_range *ranges;
    uint64_t *hit_us; /* by entry: its last hit or its addition; NULL in a table without timeouts */
};

static inline struct sw_entry *sw_table_entry(const struct sw_table *t, uint32_t index)
{
    return (struct sw_entry *)(void *)(t->entries + (size_t)index * t->stride);
}

/* Short keys differ only in the highest bits of a word, which a product alone would not carry to any other bit. */
static inline uint32_t sw_key_hash(const uint64_t *key, unsigned n, uint64_t seed)
{
    uint64_t h = seed + 0x9e3779b97f4a7c15u;
    for (unsigned i = 0; i < n; i++) {
        h ^= key[i];
        h = (h ^ h >> 32) * 0xff51afd7ed558ccdu;
    }
    return (uint32_t)(h >> 32);
}

__attribute__((always_inline)) static inline const struct sw_entry *
sw_table_probe(const struct sw_table *t, const uint64_t *key, unsigned n, uint64_t seed)
{
    uint32_t hash = sw_key_hash(key, n, seed);
    for (uint32_t at = hash & t->slot_mask; t->slots[at].entry; at = (at + 1) & t->slot_mask) {
        if (t->slots[at].hash != hash)
            continue;
        const struct sw_entry *entry = sw_table_entry(t, t->slots[at].entry - 1);
        const uint64_t *have = entry->words + t->arg_words;
        bool same = have[n] == seed;
        for (unsigned i = 0; i < n; i++)
            same &= have[i] == key[i];
        if (same)
            return entry;
    }
    return NULL;
}

/* The look-ups return NULL on a miss; `n` is the table's key_words, a constant for the compiler. */
__attribute__((always_inline)) static inline const struct sw_entry *sw_table_exact(const struct sw_table *t,
                                                                                   const uint64_t *key, unsigned n)
{
    return t->count ? sw_table_probe(t, key, n, 0) : NULL;
}

static inline const struct sw_entry *sw_table_lpm(const struct sw_table *t, const uint64_t *key, unsigned n)
{
    for (unsigned p = 0; p < t->n_prefixes; p++) {
        const uint64_t *mask = t->prefix_masks + (size_t)p * n;
        uint64_t masked[SW_LPM_MOST_WORDS];
        for (unsigned i = 0; i < n; i++)
            masked[i] = key[i] & mask[i];
        const struct sw_entry *entry = sw_table_probe(t, masked, n, t->prefixes[p]);
        if (entry)
            return entry;
    }
    return NULL;
}

static inline bool sw_ranges_match(const struct sw_table *t, const uint64_t *key, const uint64_t *limits)
{
    for (unsigned r = 0; r < t->n_ranges; r++) {
        const struct sw_range *range = &t->ranges[r];
        uint64_t value = key[range->word] >> range->shift;
        if (range->bits < 64)
            value &= ((uint64_t)1 << range->bits) - 1;
        if (value < limits[2 * r] || value > limits[2 * r + 1])
            return false;
    }
    return true;
}

static inline const struct sw_entry *sw_table_ternary(const struct sw_table *t, const uint64_t *key, unsigned n)
{
    for (uint32_t o = 0; o < t->count; o++) {
        const struct sw_entry *entry = sw_table_entry(t, t->order[o]);
        const uint64_t *want = entry->words + t->arg_words;
        uint64_t differs = 0;
        for (unsigned i = 0; i < n; i++)
            differs |= (key[i] & want[n + i]) ^ want[i];
        if (!differs && sw_ranges_match(t, key, want + 2 * n))
            return entry;
    }
    return NULL;
}

#endif /* SW_TABLE_H */
