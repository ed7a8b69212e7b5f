/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * A pipeline: the run-time state of one program on one switch. This file creates and frees its parts, and holds the few
 * services that belong to no part. Must know neither ports nor clocks.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/text.h"
#include "runtime/internal.h"

static uint32_t direct_count(const struct sw_program *program, bool is_meter, unsigned id)
{
    for (unsigned t = 0; t < program->n_tables; t++) {
        int32_t bound = is_meter ? program->tables[t].direct_meter : program->tables[t].direct_counter;
        if (bound == (int32_t)id)
            return program->tables[t].max_entries;
    }
    return 0;
}

static uint32_t array_count(const struct sw_program *program, const struct sw_array_info *info, bool is_meter,
                            unsigned id)
{
    return info->is_direct ? direct_count(program, is_meter, id) : info->count;
}

static int init_parts(struct sw_pipeline *p)
{
    const struct sw_program *program = p->program;
    int error = sw_digests_init(&p->digests, program);
    for (unsigned i = 0; i < program->n_tables && !error; i++)
        error = sw_table_init(&p->tables[i], program, &program->tables[i]);
    for (unsigned i = 0; i < program->n_profiles && !error; i++)
        error = sw_profile_init(&p->profiles[i], program, (uint16_t)i);
    for (unsigned i = 0; i < program->n_registers && !error; i++)
        error = sw_register_init(&p->registers[i], &program->registers[i]);
    for (unsigned i = 0; i < program->n_counters && !error; i++)
        error = sw_counters_init(&p->counters[i], array_count(program, &program->counters[i], false, i));
    for (unsigned i = 0; i < program->n_meters && !error; i++)
        error = sw_meters_init(&p->meters[i], &program->meters[i], array_count(program, &program->meters[i], true, i));
    for (unsigned i = 0; i < program->n_crcs; i++)
        sw_crc_begin(&p->crcs[i], program->crcs[i].bits);
    for (unsigned i = 0; i < program->n_value_sets; i++)
        sw_value_set_init(&p->value_sets[i], &program->value_sets[i]);
    return error;
}

struct sw_pipeline *sw_pipeline_create(const struct sw_program *program, uint64_t seed)
{
    struct sw_pipeline *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->program = program;
    p->random_state = seed;
    p->tables = calloc(program->n_tables + 1u, sizeof(*p->tables));
    p->profiles = calloc(program->n_profiles + 1u, sizeof(*p->profiles));
    p->registers = calloc(program->n_registers + 1u, sizeof(*p->registers));
    p->counters = calloc(program->n_counters + 1u, sizeof(*p->counters));
    p->meters = calloc(program->n_meters + 1u, sizeof(*p->meters));
    p->crcs = calloc(program->n_crcs + 1u, sizeof(*p->crcs));
    p->value_sets = calloc(program->n_value_sets + 1u, sizeof(*p->value_sets));
    bool made = p->tables && p->profiles && p->registers && p->counters && p->meters && p->crcs && p->value_sets;
    if (!made || init_parts(p) != 0 || program->init(p) != 0) {
        sw_pipeline_destroy(p);
        return NULL;
    }
    return p;
}

void sw_pipeline_destroy(struct sw_pipeline *p)
{
    if (!p)
        return;
    for (unsigned i = 0; p->tables && i < p->program->n_tables; i++)
        sw_table_free(&p->tables[i]);
    for (unsigned i = 0; p->profiles && i < p->program->n_profiles; i++)
        sw_profile_free(&p->profiles[i]);
    for (unsigned i = 0; p->registers && i < p->program->n_registers; i++)
        free(p->registers[i].cells);
    for (unsigned i = 0; p->counters && i < p->program->n_counters; i++)
        free(p->counters[i].cells);
    for (unsigned i = 0; p->meters && i < p->program->n_meters; i++)
        free(p->meters[i].cells);
    for (unsigned i = 0; p->value_sets && i < p->program->n_value_sets; i++)
        free(p->value_sets[i].values);
    free(p->digests.bytes);
    free(p->tables);
    free(p->profiles);
    free(p->registers);
    free(p->counters);
    free(p->meters);
    free(p->crcs);
    free(p->value_sets);
    free(p);
}

struct sw_pipeline *sw_pipeline_begin_life(struct sw_pipeline *p)
{
    struct sw_pipeline *fresh = sw_pipeline_create(p->program, 0);
    struct sw_register *registers = p->registers;
    struct sw_counters *counters = p->counters;

    if (!fresh)
        return NULL;
    p->registers = fresh->registers;
    p->counters = fresh->counters;
    fresh->registers = registers;
    fresh->counters = counters;
    for (unsigned i = 0; i < p->program->n_meters; i++)
        sw_meters_fill(&p->meters[i]);
    return fresh;
}

int sw_pipeline_reset(struct sw_pipeline *p)
{
    for (unsigned i = 0; i < p->program->n_tables; i++)
        sw_table_reset(p, &p->tables[i]);
    for (unsigned i = 0; i < p->program->n_profiles; i++)
        sw_profile_reset(&p->profiles[i]);
    for (uint16_t i = 0; i < p->program->n_registers; i++)
        sw_register_reset(p, i);
    for (uint16_t i = 0; i < p->program->n_counters; i++)
        sw_counter_reset(p, i);
    for (unsigned i = 0; i < p->program->n_meters; i++)
        memset(p->meters[i].cells, 0, p->meters[i].count * sizeof(*p->meters[i].cells));
    p->digests.used = 0;
    return p->program->init(p);
}

int sw_crc_configure(struct sw_pipeline *p, uint16_t crc, const struct sw_crc_parameters *parameters)
{
    if (crc >= p->program->n_crcs)
        return -EINVAL;
    sw_crc_set(&p->crcs[crc], p->program->crcs[crc].bits, parameters);
    return 0;
}

const struct sw_program *sw_pipeline_program(const struct sw_pipeline *p)
{
    return p->program;
}

void sw_pipeline_set_log(struct sw_pipeline *p, sw_log_fn write, void *ctx)
{
#ifdef SW_PACKET_LOG
    p->log.write = write;
    p->log.ctx = ctx;
#else
    (void)p, (void)write, (void)ctx;
#endif
}

void sw_pipeline_set_time(struct sw_pipeline *p, uint64_t now_us)
{
    p->now_us = now_us;
}

int sw_pipeline_install(struct sw_pipeline *p, const struct sw_const_default *defaults, size_t n_defaults,
                        const struct sw_const_entry *entries, size_t n_entries)
{
    int error = 0;
    p->installing = true;
    for (size_t i = 0; i < n_defaults && !error; i++)
        error = sw_table_set_default(p, defaults[i].table, defaults[i].action, defaults[i].args);
    for (size_t i = 0; i < n_entries && !error; i++) {
        const struct sw_const_entry *e = &entries[i];
        error = sw_table_add(p, e->table, e->keys, e->action, e->args, e->priority, NULL);
    }
    p->installing = false;
    return error;
}

uint64_t sw_random_between(struct sw_pipeline *p, uint64_t low, uint64_t high)
{
    if (high < low)
        return low;
    uint64_t span = high - low + 1; /* 0: all 64 bits */
    uint64_t draw = sw_next_random(&p->random_state);
    return span ? low + (uint64_t)((sw_u128)draw * span >> 64) : draw;
}

void sw_assertion_failed(const char *what)
{
    fputs("softswitch: ", stderr);
    sw_text_print_line(stderr, what);
    abort();
}

bool sw_packet_make_room(struct sw_packet *packet, uint32_t n)
{
    if (packet->len > packet->capacity || packet->capacity - packet->len < n)
        return false;
    memmove(packet->buffer + packet->capacity - packet->len, packet->buffer + packet->head, packet->len);
    packet->head = packet->capacity - packet->len;
    return true;
}
