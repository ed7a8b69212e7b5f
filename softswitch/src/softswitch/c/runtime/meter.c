/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Meters: token buckets of several rates, as BMv2 runs them. Tokens are counted from the switch's time zero rather than
 * from the last packet, so that rounding never accumulates.
 */
#include <errno.h>
#include <stdlib.h>

#include "runtime/internal.h"

int sw_meters_init(struct sw_meters *meters, const struct sw_array_info *info, uint32_t count)
{
    meters->count = count;
    meters->counts_bytes = info->counts_bytes;
    meters->cells = calloc(count + 1u, sizeof(*meters->cells));
    return meters->cells ? 0 : -ENOMEM;
}

void sw_meters_fill(struct sw_meters *meters)
{
    for (uint32_t at = 0; at < meters->count; at++) {
        struct sw_meter *meter = &meters->cells[at];

        for (unsigned i = 0; i < meter->n_rates; i++)
            meter->rates[i].tokens = meter->rates[i].burst;
    }
}

uint32_t sw_meter_execute(struct sw_meters *meters, uint64_t index, uint32_t bytes, uint64_t now_us)
{
    struct sw_meter *meter = &meters->cells[index];
    uint64_t cost = meters->counts_bytes ? bytes : 1;
    for (unsigned i = 0; i < meter->n_rates; i++) {
        uint64_t since_start = (uint64_t)((double)now_us * meter->rates[i].units_per_us);
        uint64_t tokens = meter->rates[i].tokens + (since_start - meter->rates[i].tokens_since_start);
        meter->rates[i].tokens_since_start = since_start;
        meter->rates[i].tokens = tokens < meter->rates[i].burst ? tokens : meter->rates[i].burst;
        if (meter->rates[i].tokens < cost)
            return meter->rates[i].color;
        meter->rates[i].tokens -= cost;
    }
    return 0;
}

static struct sw_meter *meter_at(const struct sw_pipeline *p, uint16_t meter, uint32_t index)
{
    if (meter >= p->program->n_meters)
        return NULL;
    uint32_t at = p->program->meters[meter].is_direct ? index & 0xffffffu : index;
    return at < p->meters[meter].count ? &p->meters[meter].cells[at] : NULL;
}

int sw_meter_set_rates(struct sw_pipeline *p, uint16_t meter, uint32_t index, const struct sw_meter_rate *rates,
                       uint8_t n_rates)
{
    struct sw_meter *cell = meter_at(p, meter, index);
    if (!cell || n_rates != p->program->meters[meter].meter_rates || n_rates > SW_METER_MOST_RATES)
        return -EINVAL;
    for (unsigned i = 1; i < n_rates; i++) {
        if (rates[i - 1].units_per_us > rates[i].units_per_us)
            return -EINVAL;
    }
    for (unsigned i = 0; i < n_rates; i++) {
        unsigned last = n_rates - 1u - i;
        cell->rates[last].units_per_us = rates[i].units_per_us;
        cell->rates[last].burst = rates[i].burst_units;
        cell->rates[last].tokens = rates[i].burst_units;
        cell->rates[last].tokens_since_start = 0;
        cell->rates[last].color = (uint8_t)(i + 1);
    }
    cell->n_rates = n_rates;
    return 0;
}

int sw_meter_clear_rates(struct sw_pipeline *p, uint16_t meter, uint32_t index)
{
    struct sw_meter *cell = meter_at(p, meter, index);
    if (!cell)
        return -EINVAL;
    cell->n_rates = 0;
    return 0;
}

int sw_meter_get_rates(const struct sw_pipeline *p, uint16_t meter, uint32_t index, struct sw_meter_rate *rates,
                       uint8_t most)
{
    const struct sw_meter *cell = meter_at(p, meter, index);
    if (!cell || cell->n_rates > most)
        return -EINVAL;
    for (unsigned i = 0; i < cell->n_rates; i++) {
        unsigned last = cell->n_rates - 1u - i;
        rates[i] = (struct sw_meter_rate){cell->rates[last].units_per_us, (uint32_t)cell->rates[last].burst};
    }
    return cell->n_rates;
}
