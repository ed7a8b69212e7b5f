/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Commands on parser value sets, with the names of simple_switch_CLI.
 */
#include "control/commands.h"
#include "control/words/names.h"
#include "control/words/values.h"

#include <stdlib.h>

static uint16_t bytes_of(const struct sw_command *command, int set)
{
    return (uint16_t)((command->program->value_sets[set].bits + 7) / 8);
}

/* Reads SET VALUE and calls `change`. */
static int change(struct sw_command *command,
                  int (*change)(struct sw_pipeline *pipeline, uint16_t set, struct sw_value value))
{
    int set = sw_find_value_set(command, command->words[1]), result;
    uint16_t n_bytes;
    uint8_t *bytes;

    if (set < 0)
        return -1;
    n_bytes = bytes_of(command, set);
    bytes = malloc(n_bytes + 1u);
    if (!bytes)
        return sw_command_fail(command, "no memory");
    result = sw_read_value(command, command->words[2], command->program->value_sets[set].bits, bytes);
    if (result == 0)
        result = sw_command_check(command, change(command->pipeline, (uint16_t)set, (struct sw_value){bytes, n_bytes}),
                                  "the value");
    free(bytes);
    return result;
}

int sw_do_pvs_add(struct sw_command *command)
{
    return change(command, sw_value_set_add);
}

int sw_do_pvs_remove(struct sw_command *command)
{
    return change(command, sw_value_set_remove);
}

int sw_do_pvs_clear(struct sw_command *command)
{
    int set = sw_find_value_set(command, command->words[1]);

    return set < 0 ? -1 : sw_command_check(command, sw_value_set_clear(command->pipeline, (uint16_t)set), "the set");
}

/* Prints the values in hexadecimal, one a line. */
int sw_do_pvs_get(struct sw_command *command)
{
    int set = sw_find_value_set(command, command->words[1]);
    int64_t count;
    uint16_t n_bytes;
    uint8_t *bytes;

    if (set < 0)
        return -1;
    count = sw_value_set_count(command->pipeline, (uint16_t)set);
    n_bytes = bytes_of(command, set);
    bytes = malloc(n_bytes + 1u);
    if (!bytes)
        return sw_command_fail(command, "no memory");
    for (int64_t i = 0; i < count; i++) {
        sw_value_set_get(command->pipeline, (uint16_t)set, (uint32_t)i, bytes, n_bytes);
        sw_text_add(command->out, "0x");
        for (uint16_t at = 0; at < n_bytes; at++)
            sw_text_add(command->out, "%02x", bytes[at]);
        sw_text_add(command->out, "\n");
    }
    free(bytes);
    return 0;
}

/* Prints the name and width of each set. */
int sw_do_show_pvs(struct sw_command *command)
{
    for (uint16_t i = 0; i < command->program->n_value_sets; i++)
        sw_text_add(command->out, "%-40s [%u]\n", command->program->value_sets[i].name,
                    command->program->value_sets[i].bits);
    return 0;
}
