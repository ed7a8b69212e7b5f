/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Finds objects of the program by their full name, or by a suffix after a dot that only one object has.
 */
#include "control/words/names.h"

#include <string.h>

/* Every *_info struct of pipeline.h starts with its name. */
struct names {
    const void *infos;
    size_t stride;
    const uint16_t *ids; /* NULL: all ids from 0 to count - 1 */
    uint32_t count;
    const char *kind;
};

static const char *name_at(const struct names *names, uint32_t i)
{
    uint32_t id = names->ids ? names->ids[i] : i;

    return *(const char *const *)((const uint8_t *)names->infos + id * names->stride);
}

static bool ends_in(const char *name, const char *suffix)
{
    size_t length = strlen(name), wanted = strlen(suffix);

    return length > wanted && name[length - wanted - 1] == '.' && strcmp(name + length - wanted, suffix) == 0;
}

/* Whether p4c made the object: it turns statements into tables such as tbl_sfc81, which belong to no control. */
static bool is_hidden(const char *name)
{
    return strncmp(name, "tbl_", 4) == 0 && strchr(name, '.') == NULL;
}

static int fail(struct sw_command *command, const struct names *names, const char *word, const char *problem)
{
    struct sw_text known = {0};
    int result;

    for (uint32_t i = 0; i < names->count; i++) {
        if (!is_hidden(name_at(names, i)))
            sw_text_add(&known, "%s%s", known.length ? ", " : "", name_at(names, i));
    }
    result = sw_command_fail(command, "%s %s '%s', there are: %s", problem, names->kind, word,
                             known.length ? known.bytes : "none");
    sw_text_free(&known);
    return result;
}

static int find(struct sw_command *command, const struct names *names, const char *word)
{
    int found = -1;

    for (uint32_t i = 0; i < names->count; i++) {
        if (strcmp(name_at(names, i), word) == 0)
            return (int)(names->ids ? names->ids[i] : i);
    }
    for (uint32_t i = 0; i < names->count; i++) {
        if (!ends_in(name_at(names, i), word))
            continue;
        if (found >= 0)
            return fail(command, names, word, "more than one");
        found = (int)(names->ids ? names->ids[i] : i);
    }
    return found >= 0 ? found : fail(command, names, word, "no");
}

int sw_find_table(struct sw_command *command, const char *word)
{
    const struct sw_program *program = command->program;
    struct names names = {program->tables, sizeof(*program->tables), NULL, program->n_tables, "table"};

    return find(command, &names, word);
}

int sw_find_profile(struct sw_command *command, const char *word)
{
    const struct sw_program *program = command->program;
    struct names names = {program->profiles, sizeof(*program->profiles), NULL, program->n_profiles, "action profile"};

    return find(command, &names, word);
}

int sw_find_register(struct sw_command *command, const char *word)
{
    const struct sw_program *program = command->program;
    struct names names = {program->registers, sizeof(*program->registers), NULL, program->n_registers, "register"};

    return find(command, &names, word);
}

int sw_find_counter(struct sw_command *command, const char *word)
{
    const struct sw_program *program = command->program;
    struct names names = {program->counters, sizeof(*program->counters), NULL, program->n_counters, "counter"};

    return find(command, &names, word);
}

int sw_find_meter(struct sw_command *command, const char *word)
{
    const struct sw_program *program = command->program;
    struct names names = {program->meters, sizeof(*program->meters), NULL, program->n_meters, "meter"};

    return find(command, &names, word);
}

int sw_find_crc(struct sw_command *command, const char *word)
{
    const struct sw_program *program = command->program;
    struct names names = {program->crcs, sizeof(*program->crcs), NULL, program->n_crcs, "custom CRC"};

    return find(command, &names, word);
}

int sw_find_value_set(struct sw_command *command, const char *word)
{
    const struct sw_program *program = command->program;
    struct names names = {program->value_sets, sizeof(*program->value_sets), NULL, program->n_value_sets,
                          "parser value set"};

    return find(command, &names, word);
}

int sw_find_table_action(struct sw_command *command, uint32_t table, const char *word)
{
    const struct sw_program *program = command->program;
    const struct sw_table_info *info = &program->tables[table];
    struct names names = {program->actions, sizeof(*program->actions), info->actions, info->n_actions, "action"};

    return find(command, &names, word);
}

int sw_find_profile_action(struct sw_command *command, uint32_t profile, const char *word)
{
    const struct sw_program *program = command->program;

    for (uint32_t table = 0; table < program->n_tables; table++) {
        if (program->tables[table].action_profile == (int32_t)profile)
            return sw_find_table_action(command, table, word);
    }
    return sw_command_fail(command, "no table uses action profile '%s'", program->profiles[profile].name);
}
