/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Changes to parser value sets.
 */
#include <errno.h>
#include <stdlib.h>

#include "runtime/internal.h"

#define MOST_BITS 65535u
#define MOST_WORDS ((MOST_BITS + 63) / 64)

void sw_value_set_init(struct sw_value_set *set, const struct sw_field_info *info)
{
    *set = (struct sw_value_set){.n_words = (uint16_t)((info->bits + 63u) / 64)};
}

/* Writes the words of a value; returns 0, or -EINVAL if the set does not exist or the value is too wide for it. */
static int read_words(const struct sw_pipeline *p, uint16_t id, const struct sw_value *value, uint64_t *words)
{
    unsigned n;

    if (id >= p->program->n_value_sets || !sw_value_fits(value, p->program->value_sets[id].bits))
        return -EINVAL;
    n = p->value_sets[id].n_words;
    memset(words, 0, n * sizeof(*words));
    for (unsigned i = 0; i < value->n_bytes; i++) {
        unsigned from_end = value->n_bytes - 1u - i;

        words[n - 1 - from_end / 8] |= (uint64_t)value->bytes[i] << (8 * (from_end % 8));
    }
    return 0;
}

static int reserve(struct sw_value_set *set)
{
    uint32_t capacity = set->capacity ? 2 * set->capacity : 16;
    uint64_t *values;

    if (set->count < set->capacity)
        return 0;
    values = realloc(set->values, (size_t)capacity * set->n_words * sizeof(*values));
    if (!values)
        return -ENOMEM;
    set->values = values;
    set->capacity = capacity;
    return 0;
}

int sw_value_set_add(struct sw_pipeline *p, uint16_t id, struct sw_value value)
{
    uint64_t words[MOST_WORDS], *place;
    struct sw_value_set *set;
    size_t bytes;
    uint32_t at;

    if (read_words(p, id, &value, words) < 0)
        return -EINVAL;
    set = &p->value_sets[id];
    if (sw_value_set_has(set, words, NULL, set->n_words))
        return 0;
    if (reserve(set) < 0)
        return -ENOMEM;
    at = sw_value_set_position(set, words, set->n_words);
    place = set->values + (size_t)at * set->n_words;
    bytes = set->n_words * sizeof(*words);
    memmove(place + set->n_words, place, (set->count - at) * bytes);
    memcpy(place, words, bytes);
    set->count++;
    return 0;
}

int sw_value_set_remove(struct sw_pipeline *p, uint16_t id, struct sw_value value)
{
    uint64_t words[MOST_WORDS], *place;
    struct sw_value_set *set;
    uint32_t at;

    if (read_words(p, id, &value, words) < 0)
        return -EINVAL;
    set = &p->value_sets[id];
    if (!sw_value_set_has(set, words, NULL, set->n_words))
        return 0;
    at = sw_value_set_position(set, words, set->n_words);
    place = set->values + (size_t)at * set->n_words;
    set->count--;
    memmove(place, place + set->n_words, (set->count - at) * set->n_words * sizeof(*place));
    return 0;
}

int sw_value_set_clear(struct sw_pipeline *p, uint16_t id)
{
    if (id >= p->program->n_value_sets)
        return -EINVAL;
    p->value_sets[id].count = 0;
    return 0;
}

int64_t sw_value_set_count(const struct sw_pipeline *p, uint16_t id)
{
    return id < p->program->n_value_sets ? (int64_t)p->value_sets[id].count : -EINVAL;
}

int sw_value_set_get(const struct sw_pipeline *p, uint16_t id, uint32_t index, uint8_t *bytes, uint16_t n_bytes)
{
    const struct sw_value_set *set;
    const uint64_t *words;

    if (id >= p->program->n_value_sets || index >= p->value_sets[id].count ||
        n_bytes != (p->program->value_sets[id].bits + 7) / 8)
        return -EINVAL;
    set = &p->value_sets[id];
    words = set->values + (size_t)index * set->n_words;
    for (unsigned i = 0; i < n_bytes; i++) {
        unsigned from_end = n_bytes - 1u - i;

        bytes[i] = (uint8_t)(words[set->n_words - 1 - from_end / 8] >> (8 * (from_end % 8)));
    }
    return 0;
}
