/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Registers, counters, meters, action profiles and digests for generated code. Control-plane access is in
 * stateful.c, meter.c, profile.c and digest.c.
 */
#ifndef SW_STATEFUL_H
#define SW_STATEFUL_H

#include "runtime/table.h"

/*
 * A cell has the smallest type that fits out of uint8_t, uint16_t, uint32_t, uint64_t and unsigned __int128; wider
 * cells are big-endian bytes.
 */
struct sw_register {
    void *cells;
    uint32_t count;
    uint32_t cell_bytes;
};

struct sw_counter {
    uint64_t packets, bytes;
};

struct sw_counters {
    struct sw_counter *cells;
    uint32_t count;
};

static inline void sw_counter_count(struct sw_counters *counters, uint64_t index, uint32_t bytes)
{
    if (index >= counters->count)
        return;
    counters->cells[index].packets++;
    counters->cells[index].bytes += bytes;
}

#define SW_METER_MOST_RATES 8u

/* The rates are sorted from the highest to the lowest, the order in which a packet is checked. */
struct sw_meter {
    uint8_t n_rates; /* 0: not configured, every packet is green */
    struct {
        double units_per_us;
        uint64_t burst, tokens, tokens_since_start;
        uint8_t color;
    } rates[SW_METER_MOST_RATES];
};

struct sw_meters {
    struct sw_meter *cells;
    uint32_t count;
    bool counts_bytes;
};

/* The colour of a packet of `bytes` bytes: 0 green, 1 yellow, 2 red; a conforming packet takes tokens of every rate. */
uint32_t sw_meter_execute(struct sw_meters *meters, uint64_t index, uint32_t bytes, uint64_t now_us);

struct sw_group {
    bool used;
    uint32_t count, references;
    uint32_t *members; /* sorted, because the selector's hash counts them in BMv2's order */
};

struct sw_profile {
    const struct sw_profile_info *info;
    uint16_t arg_words;
    uint32_t stride;
    uint32_t capacity;
    uint8_t *members; /* struct sw_entry each */
    uint32_t *references;
    struct sw_group *groups;
};

static inline const struct sw_entry *sw_profile_member(const struct sw_profile *profile, uint32_t member)
{
    return (const struct sw_entry *)(const void *)(profile->members + (size_t)member * profile->stride);
}

#endif /* SW_STATEFUL_H */
