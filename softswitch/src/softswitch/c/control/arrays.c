/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Commands on registers, counters and meters.
 */
#include "control/commands.h"
#include "control/words/names.h"
#include "control/words/values.h"

#include <inttypes.h>
#include <stdlib.h>

/* Reads an index below the array's size; a direct array is indexed by entry handle, which the runtime checks. */
static int read_index(struct sw_command *command, const struct sw_array_info *array, const char *word, uint32_t *index)
{
    if (sw_read_u32(command, word, "index", UINT32_MAX, index) < 0)
        return -1;
    if (!array->is_direct && *index >= array->count)
        return sw_command_fail(command, "index '%s' is outside %s, which has %" PRIu32, word, array->name,
                               array->count);
    return 0;
}

/* Prints the values of cells [first, end) of a register. */
static int print_cells(struct sw_command *command, int reg, uint32_t first, uint32_t end)
{
    uint16_t n_bytes = (uint16_t)((command->program->registers[reg].bits + 7u) / 8);
    uint8_t *bytes = malloc(n_bytes);
    int result = bytes ? 0 : sw_command_fail(command, "no memory");

    for (uint32_t i = first; i < end && result == 0; i++) {
        result = sw_command_check(command, sw_register_read(command->pipeline, (uint16_t)reg, i, bytes, n_bytes),
                                  "the cell");
        if (result == 0) {
            sw_text_add(command->out, "%s", i > first ? ", " : " ");
            sw_print_value(command->out, bytes, n_bytes);
        }
    }
    free(bytes);
    return result;
}

int sw_do_register_read(struct sw_command *command)
{
    int reg = sw_find_register(command, command->words[1]);
    const struct sw_array_info *info = &command->program->registers[reg < 0 ? 0 : reg];
    uint32_t index;

    if (reg < 0)
        return -1;
    if (command->n_words == 2) {
        sw_text_add(command->out, "%s=", command->words[1]);
        return print_cells(command, reg, 0, info->count);
    }
    if (read_index(command, info, command->words[2], &index) < 0)
        return -1;
    sw_text_add(command->out, "%s[%" PRIu32 "]=", command->words[1], index);
    return print_cells(command, reg, index, index + 1);
}

int sw_do_register_write(struct sw_command *command)
{
    int reg = sw_find_register(command, command->words[1]);
    const struct sw_array_info *info = &command->program->registers[reg < 0 ? 0 : reg];
    uint16_t n_bytes = (uint16_t)((info->bits + 7u) / 8);
    uint32_t index;
    uint8_t *bytes;
    int result;

    if (reg < 0 || read_index(command, info, command->words[2], &index) < 0)
        return -1;
    bytes = malloc(n_bytes);
    if (!bytes)
        return sw_command_fail(command, "no memory");
    result = sw_read_value(command, command->words[3], info->bits, bytes);
    if (result == 0)
        result = sw_command_check(
            command, sw_register_write(command->pipeline, (uint16_t)reg, index, (struct sw_value){bytes, n_bytes}),
            "the cell");
    free(bytes);
    return result;
}

int sw_do_register_reset(struct sw_command *command)
{
    int reg = sw_find_register(command, command->words[1]);

    if (reg < 0)
        return -1;
    return sw_command_check(command, sw_register_reset(command->pipeline, (uint16_t)reg), command->words[1]);
}

/* Reads the counter in words[1] and the index in words[2]; -1 on error. */
static int counter_of(struct sw_command *command, uint32_t *index)
{
    int counter = sw_find_counter(command, command->words[1]);

    if (counter < 0 || read_index(command, &command->program->counters[counter], command->words[2], index) < 0)
        return -1;
    return counter;
}

int sw_do_counter_read(struct sw_command *command)
{
    uint32_t index;
    int counter = counter_of(command, &index);
    uint64_t packets, bytes;

    if (counter < 0 ||
        sw_command_check(command, sw_counter_read(command->pipeline, (uint16_t)counter, index, &packets, &bytes),
                         "the counter's entry") < 0)
        return -1;
    sw_text_add(command->out, "%s[%" PRIu32 "]= (%" PRIu64 " bytes, %" PRIu64 " packets)\n", command->words[1], index,
                bytes, packets);
    return 0;
}

int sw_do_counter_write(struct sw_command *command)
{
    uint32_t index;
    int counter = counter_of(command, &index);
    uint64_t packets, bytes;

    if (counter < 0 || sw_read_number(command, command->words[3], "packets", UINT64_MAX, &packets) < 0 ||
        sw_read_number(command, command->words[4], "bytes", UINT64_MAX, &bytes) < 0)
        return -1;
    return sw_command_check(command, sw_counter_write(command->pipeline, (uint16_t)counter, index, packets, bytes),
                            "the counter's entry");
}

int sw_do_counter_reset(struct sw_command *command)
{
    int counter = sw_find_counter(command, command->words[1]);

    if (counter < 0)
        return -1;
    return sw_command_check(command, sw_counter_reset(command->pipeline, (uint16_t)counter), command->words[1]);
}

static int read_rate(struct sw_command *command, const char *word, struct sw_meter_rate *rate)
{
    char *end, *colon;
    uint64_t burst;

    rate->units_per_us = strtod(word, &colon);
    if (colon == word || *colon != ':' || !(rate->units_per_us >= 0))
        return sw_command_fail(command, "'%s' is not RATE:BURST", word);
    burst = strtoull(colon + 1, &end, 10);
    if (end == colon + 1 || *end || burst > UINT32_MAX)
        return sw_command_fail(command, "'%s' is not RATE:BURST", word);
    rate->burst_units = (uint32_t)burst;
    return 0;
}

/* Sets cells [first, end) to the rates that start at words[at]. */
static int set_rates(struct sw_command *command, int meter, uint32_t first, uint32_t end, uint32_t at)
{
    const struct sw_array_info *info = &command->program->meters[meter];
    struct sw_meter_rate rates[8];
    uint32_t n_rates = command->n_words - at;

    if (n_rates != info->meter_rates || n_rates > sizeof(rates) / sizeof(*rates))
        return sw_command_fail(command, "meter %s has %u rates, not %" PRIu32, info->name, info->meter_rates, n_rates);
    for (uint32_t i = 0; i < n_rates; i++) {
        if (read_rate(command, command->words[at + i], &rates[i]) < 0)
            return -1;
    }
    for (uint32_t i = first; i < end; i++) {
        int result = sw_meter_set_rates(command->pipeline, (uint16_t)meter, i, rates, (uint8_t)n_rates);

        if (sw_command_check(command, result, "the meter's cell, or a rising order of its rates,") < 0)
            return -1;
    }
    return 0;
}

int sw_do_meter_array_set_rates(struct sw_command *command)
{
    int meter = sw_find_meter(command, command->words[1]);

    if (meter < 0)
        return -1;
    if (command->program->meters[meter].is_direct)
        return sw_command_fail(command, "meter %s is direct: use meter_set_rates with an entry", command->words[1]);
    return set_rates(command, meter, 0, command->program->meters[meter].count, 2);
}

int sw_do_meter_get_rates(struct sw_command *command)
{
    struct sw_meter_rate rates[8];
    int meter = sw_find_meter(command, command->words[1]);
    uint32_t index;
    int count;

    if (meter < 0 || read_index(command, &command->program->meters[meter], command->words[2], &index) < 0)
        return -1;
    count = sw_meter_get_rates(command->pipeline, (uint16_t)meter, index, rates, 8);
    if (sw_command_check(command, count, "the meter's cell") < 0)
        return -1;
    for (int i = 0; i < count; i++)
        sw_text_add(command->out, "%d: info rate = %.15g, burst size = %" PRIu32 "\n", i, rates[i].units_per_us,
                    rates[i].burst_units);
    return 0;
}

int sw_do_meter_set_rates(struct sw_command *command)
{
    int meter = sw_find_meter(command, command->words[1]);
    uint32_t index;

    if (meter < 0 || read_index(command, &command->program->meters[meter], command->words[2], &index) < 0)
        return -1;
    return set_rates(command, meter, index, index + 1, 3);
}

int sw_do_meter_clear_rates(struct sw_command *command)
{
    int meter = sw_find_meter(command, command->words[1]);
    uint32_t index;

    if (meter < 0 || read_index(command, &command->program->meters[meter], command->words[2], &index) < 0)
        return -1;
    return sw_command_check(command, sw_meter_clear_rates(command->pipeline, (uint16_t)meter, index),
                            "the meter's cell");
}
