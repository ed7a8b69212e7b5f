/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Registers and counters: their cells, and access by the control plane. Meters are in meter.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "runtime/internal.h"

/* ---- registers ---- */

int sw_register_init(struct sw_register *reg, const struct sw_array_info *info)
{
    unsigned bytes = (info->bits + 7u) / 8;
    unsigned cell = bytes;
    if (bytes <= 16) {
        for (cell = 1; cell < bytes;)
            cell *= 2;
    }
    reg->count = info->count;
    reg->cell_bytes = cell;
    reg->cells = calloc(info->count + 1u, cell);
    return reg->cells ? 0 : -ENOMEM;
}

static struct sw_register *register_of(const struct sw_pipeline *p, uint16_t reg, uint32_t index)
{
    return reg < p->program->n_registers && index < p->registers[reg].count ? &p->registers[reg] : NULL;
}

static uint8_t *cell_at(const struct sw_register *reg, uint32_t index)
{
    return (uint8_t *)reg->cells + (size_t)index * reg->cell_bytes;
}

int sw_register_read(const struct sw_pipeline *p, uint16_t reg, uint32_t index, uint8_t *bytes, uint16_t n_bytes)
{
    const struct sw_register *self = register_of(p, reg, index);
    if (!self || n_bytes != (p->program->registers[reg].bits + 7u) / 8)
        return -EINVAL;
    const uint8_t *cell = cell_at(self, index);
    for (unsigned i = 0; i < n_bytes; i++)
        bytes[i] = self->cell_bytes > 16 ? cell[i] : cell[n_bytes - 1u - i];
    return 0;
}

int sw_register_write(struct sw_pipeline *p, uint16_t reg, uint32_t index, struct sw_value value)
{
    struct sw_register *self = register_of(p, reg, index);
    if (!self || !sw_value_fits(&value, p->program->registers[reg].bits))
        return -EINVAL;
    uint8_t *cell = cell_at(self, index);
    for (unsigned i = 0; i < value.n_bytes; i++)
        cell[i] = self->cell_bytes > 16 ? value.bytes[i] : value.bytes[value.n_bytes - 1u - i];
    return 0;
}

int sw_register_reset(struct sw_pipeline *p, uint16_t reg)
{
    if (reg >= p->program->n_registers)
        return -EINVAL;
    memset(p->registers[reg].cells, 0, (size_t)p->registers[reg].count * p->registers[reg].cell_bytes);
    return 0;
}

/* ---- counters ---- */

int sw_counters_init(struct sw_counters *counters, uint32_t count)
{
    counters->count = count;
    counters->cells = calloc(count + 1u, sizeof(*counters->cells));
    return counters->cells ? 0 : -ENOMEM;
}

/* Finds a direct counter by its entry's handle, whose low 24 bits are the entry's index. */
static struct sw_counter *counter_at(const struct sw_pipeline *p, uint16_t counter, uint32_t index)
{
    if (counter >= p->program->n_counters)
        return NULL;
    uint32_t at = p->program->counters[counter].is_direct ? index & 0xffffffu : index;
    return at < p->counters[counter].count ? &p->counters[counter].cells[at] : NULL;
}

int sw_counter_read(const struct sw_pipeline *p, uint16_t counter, uint32_t index, uint64_t *packets, uint64_t *bytes)
{
    const struct sw_counter *cell = counter_at(p, counter, index);
    if (!cell)
        return -EINVAL;
    *packets = cell->packets;
    *bytes = cell->bytes;
    return 0;
}

int sw_counter_write(struct sw_pipeline *p, uint16_t counter, uint32_t index, uint64_t packets, uint64_t bytes)
{
    struct sw_counter *cell = counter_at(p, counter, index);
    if (!cell)
        return -EINVAL;
    *cell = (struct sw_counter){packets, bytes};
    return 0;
}

int sw_counter_reset(struct sw_pipeline *p, uint16_t counter)
{
    if (counter >= p->program->n_counters)
        return -EINVAL;
    memset(p->counters[counter].cells, 0, p->counters[counter].count * sizeof(*p->counters[counter].cells));
    return 0;
}

void sw_direct_reset(struct sw_pipeline *p, const struct sw_table_info *info, uint32_t index)
{
    if (info->direct_counter >= 0)
        p->counters[info->direct_counter].cells[index] = (struct sw_counter){0, 0};
    if (info->direct_meter >= 0)
        p->meters[info->direct_meter].cells[index].n_rates = 0;
}
