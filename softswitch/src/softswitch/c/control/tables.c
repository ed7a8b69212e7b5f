/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Commands on tables whose entries name their action.
 */
#include "control/commands.h"
#include "control/words/entry.h"
#include "control/words/names.h"
#include "control/words/values.h"
#include "switch/switch_state.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char *const kind_names[] = {
    [SW_MATCH_EXACT] = "exact", [SW_MATCH_LPM] = "lpm",           [SW_MATCH_TERNARY] = "ternary",
    [SW_MATCH_RANGE] = "range", [SW_MATCH_OPTIONAL] = "optional",
};

static void print_table(struct sw_command *command, uint32_t table)
{
    const struct sw_table_info *info = &command->program->tables[table];
    const char *profile = info->action_profile < 0 ? "None" : command->program->profiles[info->action_profile].name;

    sw_text_add(command->out, "%-30s [implementation=%s, mk=", info->name, profile);
    for (uint32_t i = 0; i < info->n_keys; i++)
        sw_text_add(command->out, "%s%s(%s, %" PRIu16 ")", i ? ",\t" : "", info->keys[i].name,
                    kind_names[info->keys[i].kind], info->keys[i].bits);
    sw_text_add(command->out, "]\n");
}

static void print_action(struct sw_command *command, const struct sw_action_info *action)
{
    sw_text_add(command->out, "%-30s [", action->name);
    for (uint32_t i = 0; i < action->n_params; i++)
        sw_text_add(command->out, "%s%s(%" PRIu16 ")", i ? ",\t" : "", action->params[i].name, action->params[i].bits);
    sw_text_add(command->out, "]\n");
}

int sw_do_show_tables(struct sw_command *command)
{
    for (uint32_t i = 0; i < command->program->n_tables; i++)
        print_table(command, i);
    return 0;
}

int sw_do_show_actions(struct sw_command *command)
{
    for (uint32_t i = 0; i < command->program->n_actions; i++)
        print_action(command, &command->program->actions[i]);
    return 0;
}

int sw_do_table_info(struct sw_command *command)
{
    const struct sw_program *program = command->program;
    int table = sw_find_table(command, command->words[1]);

    if (table < 0)
        return -1;
    print_table(command, (uint32_t)table);
    for (uint32_t i = 0; i < program->tables[table].n_actions; i++)
        print_action(command, &program->actions[program->tables[table].actions[i]]);
    return 0;
}

/* Reads a table (words[1]) whose entries name an action, and one of its actions (words[2]); -1 on error. */
static int direct_table(struct sw_command *command, int *action)
{
    int table = sw_find_table(command, command->words[1]);

    if (table < 0)
        return -1;
    if (command->program->tables[table].action_profile >= 0)
        return sw_command_fail(command, "table %s takes members and groups: use the table_indirect commands",
                               command->words[1]);
    *action = sw_find_table_action(command, (uint32_t)table, command->words[2]);
    return *action < 0 ? -1 : table;
}

static int add_entry(struct sw_command *command, uint32_t table, uint16_t action, struct sw_entry_words *entry)
{
    const struct sw_program *program = command->program;
    struct sw_words keys = {.first = command->words + 3};
    uint32_t n_args, handle = 0;
    char **args;
    int result;

    if (sw_read_entry(command, &program->tables[table], 3, entry, &args, &n_args) < 0 ||
        sw_read_args(command, &program->actions[action], args, n_args, entry) < 0)
        return -1;
    result =
        sw_table_add(command->pipeline, (uint16_t)table, entry->keys, action, entry->args, entry->priority, &handle);
    if (result == -EEXIST)
        return sw_command_fail(command, "table %s has an entry with this key already", command->words[1]);
    if (sw_command_check(command, result, command->words[1]) < 0)
        return -1;
    keys.count = (uint32_t)(args - command->words) - 4;
    sw_shadow_add(command->sw->shadow, table, handle, keys, program->actions[action].name,
                  (struct sw_words){args, n_args}, sw_shown_priority(&program->tables[table], entry));
    sw_text_add(command->out, "Entry has been added with handle %" PRIu32 "\n", handle);
    return 0;
}

int sw_do_table_add(struct sw_command *command)
{
    struct sw_entry_words entry = {0};
    int action, table = direct_table(command, &action), result = -1;

    if (table >= 0)
        result = add_entry(command, (uint32_t)table, (uint16_t)action, &entry);
    sw_free_entry(&entry);
    return result;
}

int sw_do_table_set_default(struct sw_command *command)
{
    const struct sw_program *program = command->program;
    struct sw_entry_words entry = {0};
    int action, table = direct_table(command, &action), result = -1;
    uint32_t n_args = command->n_words - 3;

    if (table >= 0)
        result = sw_read_args(command, &program->actions[action], command->words + 3, n_args, &entry);
    if (result == 0)
        result = sw_command_check(
            command, sw_table_set_default(command->pipeline, (uint16_t)table, (uint16_t)action, entry.args),
            "the default action");
    if (result == 0)
        sw_shadow_set_default(command->sw->shadow, (uint32_t)table, program->actions[action].name,
                              (struct sw_words){command->words + 3, n_args});
    sw_free_entry(&entry);
    return result;
}

int sw_do_table_modify(struct sw_command *command)
{
    const struct sw_program *program = command->program;
    struct sw_entry_words entry = {0};
    int action, table = direct_table(command, &action), result = -1;
    char **args = command->words + 4;
    uint32_t handle, n_args = command->n_words - 4;

    if (table < 0 || sw_read_u32(command, command->words[3], "handle", UINT32_MAX, &handle) < 0)
        return -1;
    if (n_args && strcmp(args[0], "=>") == 0) {
        args++;
        n_args--;
    }
    if (sw_read_args(command, &program->actions[action], args, n_args, &entry) == 0)
        result = sw_command_check(
            command, sw_table_modify(command->pipeline, (uint16_t)table, handle, (uint16_t)action, entry.args),
            "the entry");
    if (result == 0)
        sw_shadow_modify(command->sw->shadow, (uint32_t)table, handle, program->actions[action].name,
                         (struct sw_words){args, n_args});
    sw_free_entry(&entry);
    return result;
}

int sw_do_table_delete(struct sw_command *command)
{
    int table = sw_find_table(command, command->words[1]);
    uint32_t handle;
    int result;

    if (table < 0 || sw_read_u32(command, command->words[2], "handle", UINT32_MAX, &handle) < 0)
        return -1;
    result = sw_table_delete(command->pipeline, (uint16_t)table, handle);
    if (sw_command_check(command, result, "the entry") < 0)
        return -1;
    sw_shadow_delete(command->sw->shadow, (uint32_t)table, handle);
    return 0;
}

int sw_do_table_clear(struct sw_command *command)
{
    int table = sw_find_table(command, command->words[1]);

    if (table < 0 ||
        sw_command_check(command, sw_table_clear(command->pipeline, (uint16_t)table), command->words[1]) < 0)
        return -1;
    sw_shadow_clear(command->sw->shadow, (uint32_t)table);
    return 0;
}

int sw_do_table_dump(struct sw_command *command)
{
    int table = sw_find_table(command, command->words[1]);

    if (table < 0)
        return -1;
    sw_shadow_dump(command->sw->shadow, command->pipeline, (uint32_t)table, command->out);
    return 0;
}

int sw_do_table_num_entries(struct sw_command *command)
{
    int table = sw_find_table(command, command->words[1]);

    if (table < 0)
        return -1;
    sw_text_add(command->out, "%" PRId64 "\n", sw_table_count(command->pipeline, (uint16_t)table));
    return 0;
}

static void print_age(void *ctx, uint32_t handle, uint64_t age_us)
{
    struct sw_command *command = ctx;

    sw_text_add(command->out, "%" PRIu32 " %" PRIu64 "\n", handle, age_us);
}

/* Prints a line per entry: its handle and the microseconds since its last hit or its addition. */
int sw_do_table_ages(struct sw_command *command)
{
    int table = sw_find_table(command, command->words[1]);

    if (table < 0)
        return -1;
    if (!command->program->tables[table].supports_timeout)
        return sw_command_fail(command, "table %s does not support timeouts", command->words[1]);
    return sw_command_check(command, sw_table_ages(command->pipeline, (uint16_t)table, print_age, command),
                            command->words[1]);
}
