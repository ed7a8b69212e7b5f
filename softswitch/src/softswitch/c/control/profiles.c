/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Commands on action profiles and selectors, and on the tables that use them.
 */
#include "control/commands.h"
#include "control/words/entry.h"
#include "control/words/names.h"
#include "control/words/values.h"
#include "switch/switch_state.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Returns the profile in words[1]; -1 on error. */
static int profile_of(struct sw_command *command, bool wants_selector)
{
    int profile = sw_find_profile(command, command->words[1]);

    if (profile >= 0 && wants_selector && !command->program->profiles[profile].has_selector)
        return sw_command_fail(command, "action profile %s has no selector", command->words[1]);
    return profile;
}

int sw_do_act_prof_create_member(struct sw_command *command)
{
    const struct sw_program *program = command->program;
    struct sw_entry_words entry = {0};
    int profile = profile_of(command, false), action, result = -1;
    uint32_t member = 0;

    if (profile < 0)
        return -1;
    action = sw_find_profile_action(command, (uint32_t)profile, command->words[2]);
    if (action >= 0 &&
        sw_read_args(command, &program->actions[action], command->words + 3, command->n_words - 3, &entry) == 0)
        result = sw_command_check(
            command, sw_profile_add_member(command->pipeline, (uint16_t)profile, (uint16_t)action, entry.args, &member),
            command->words[1]);
    if (result == 0) {
        sw_shadow_add(command->sw->shadow, sw_shadow_profile(program, (uint32_t)profile), member, (struct sw_words){0},
                      program->actions[action].name, (struct sw_words){command->words + 3, command->n_words - 3},
                      SW_NO_PRIORITY);
        sw_text_add(command->out, "Member has been created with handle %" PRIu32 "\n", member);
    }
    sw_free_entry(&entry);
    return result;
}

int sw_do_act_prof_modify_member(struct sw_command *command)
{
    const struct sw_program *program = command->program;
    struct sw_entry_words entry = {0};
    int profile = profile_of(command, false), action, result = -1;
    uint32_t member, first = 4;

    if (profile < 0 || sw_read_u32(command, command->words[3], "member", UINT32_MAX, &member) < 0)
        return -1;
    if (command->n_words > first && strcmp(command->words[first], "=>") == 0)
        first++;
    action = sw_find_profile_action(command, (uint32_t)profile, command->words[2]);
    if (action >= 0 &&
        sw_read_args(command, &program->actions[action], command->words + first, command->n_words - first, &entry) == 0)
        result = sw_command_check(
            command,
            sw_profile_modify_member(command->pipeline, (uint16_t)profile, member, (uint16_t)action, entry.args),
            "the member");
    if (result == 0)
        sw_shadow_modify(command->sw->shadow, sw_shadow_profile(program, (uint32_t)profile), member,
                         program->actions[action].name,
                         (struct sw_words){command->words + first, command->n_words - first});
    sw_free_entry(&entry);
    return result;
}

int sw_do_act_prof_delete_member(struct sw_command *command)
{
    int profile = profile_of(command, false);
    uint32_t member;

    if (profile < 0 || sw_read_u32(command, command->words[2], "member", UINT32_MAX, &member) < 0)
        return -1;
    if (sw_command_check(command, sw_profile_delete_member(command->pipeline, (uint16_t)profile, member),
                         "the member") < 0)
        return -1;
    sw_shadow_delete(command->sw->shadow, sw_shadow_profile(command->program, (uint32_t)profile), member);
    return 0;
}

int sw_do_act_prof_create_group(struct sw_command *command)
{
    int profile = profile_of(command, true);
    uint32_t group = 0;

    if (profile < 0 || sw_command_check(command, sw_profile_create_group(command->pipeline, (uint16_t)profile, &group),
                                        command->words[1]) < 0)
        return -1;
    sw_text_add(command->out, "Group has been created with handle %" PRIu32 "\n", group);
    return 0;
}

int sw_do_act_prof_delete_group(struct sw_command *command)
{
    int profile = profile_of(command, true);
    uint32_t group;

    if (profile < 0 || sw_read_u32(command, command->words[2], "group", UINT32_MAX, &group) < 0)
        return -1;
    return sw_command_check(command, sw_profile_delete_group(command->pipeline, (uint16_t)profile, group), "the group");
}

static int change_group(struct sw_command *command,
                        int (*change)(struct sw_pipeline *, uint16_t profile, uint32_t group, uint32_t member))
{
    int profile = profile_of(command, true);
    uint32_t member, group;

    if (profile < 0 || sw_read_u32(command, command->words[2], "member", UINT32_MAX, &member) < 0 ||
        sw_read_u32(command, command->words[3], "group", UINT32_MAX, &group) < 0)
        return -1;
    return sw_command_check(command, change(command->pipeline, (uint16_t)profile, group, member),
                            "the member or the group");
}

int sw_do_act_prof_add_member_to_group(struct sw_command *command)
{
    return change_group(command, sw_profile_group_add);
}

int sw_do_act_prof_remove_member_from_group(struct sw_command *command)
{
    return change_group(command, sw_profile_group_remove);
}

static void print_group(struct sw_command *command, uint16_t profile, uint32_t group)
{
    const uint32_t *members;
    int64_t count = sw_profile_group_members(command->pipeline, profile, group, &members);

    if (count < 0)
        return;
    sw_text_add(command->out, "group %" PRIu32 ":", group);
    for (int64_t i = 0; i < count; i++)
        sw_text_add(command->out, " %" PRIu32, members[i]);
    sw_text_add(command->out, "\n");
}

int sw_do_act_prof_dump(struct sw_command *command)
{
    const struct sw_program *program = command->program;
    int profile = profile_of(command, false);

    if (profile < 0)
        return -1;
    sw_shadow_dump_members(command->sw->shadow, sw_shadow_profile(program, (uint32_t)profile), command->out);
    for (uint32_t group = 0; group < program->profiles[profile].max_members; group++)
        print_group(command, (uint16_t)profile, group);
    return 0;
}

/* Returns the table in words[1], which must use a profile (with a selector, for groups). */
static int indirect_table(struct sw_command *command, bool is_group)
{
    const struct sw_program *program = command->program;
    int table = sw_find_table(command, command->words[1]);
    int32_t profile = table < 0 ? -1 : program->tables[table].action_profile;

    if (table < 0)
        return -1;
    if (profile < 0)
        return sw_command_fail(command, "table %s has no action profile", command->words[1]);
    if (is_group && !program->profiles[profile].has_selector)
        return sw_command_fail(command, "table %s has no selector", command->words[1]);
    return table;
}

static int add_indirect(struct sw_command *command, bool is_group, struct sw_entry_words *entry)
{
    int table = indirect_table(command, is_group);
    const struct sw_table_info *info = &command->program->tables[table < 0 ? 0 : table];
    const char *what = is_group ? "group" : "member";
    struct sw_words keys = {.first = command->words + 2};
    uint32_t n_rest, target, handle = 0;
    char **rest;
    int result;

    if (table < 0 || sw_read_entry(command, info, 2, entry, &rest, &n_rest) < 0)
        return -1;
    if (n_rest != 1)
        return sw_command_fail(command, "one %s must follow '=>', not %" PRIu32 " words", what, n_rest);
    if (sw_read_u32(command, rest[0], what, UINT32_MAX, &target) < 0)
        return -1;
    result = sw_table_add_indirect(command->pipeline, (uint16_t)table, entry->keys, is_group, target, entry->priority,
                                   &handle);
    if (result == -EINVAL)
        return sw_command_fail(command, "table %s has no %s '%s'", info->name, what, rest[0]);
    if (sw_command_check(command, result, "the entry") < 0)
        return -1;
    keys.count = (uint32_t)(rest - command->words) - 3;
    sw_shadow_add(command->sw->shadow, (uint32_t)table, handle, keys, what, (struct sw_words){rest, 1},
                  sw_shown_priority(info, entry));
    sw_text_add(command->out, "Entry has been added with handle %" PRIu32 "\n", handle);
    return 0;
}

int sw_do_table_indirect_add(struct sw_command *command)
{
    struct sw_entry_words entry = {0};
    int result = add_indirect(command, false, &entry);

    sw_free_entry(&entry);
    return result;
}

int sw_do_table_indirect_add_with_group(struct sw_command *command)
{
    struct sw_entry_words entry = {0};
    int result = add_indirect(command, true, &entry);

    sw_free_entry(&entry);
    return result;
}

static int modify_indirect(struct sw_command *command, bool is_group)
{
    int table = indirect_table(command, is_group), result;
    const char *what = is_group ? "group" : "member";
    uint32_t handle, target;

    if (table < 0 || sw_read_u32(command, command->words[2], "handle", UINT32_MAX, &handle) < 0 ||
        sw_read_u32(command, command->words[3], what, UINT32_MAX, &target) < 0)
        return -1;
    result = sw_table_modify_indirect(command->pipeline, (uint16_t)table, handle, is_group, target);
    if (result == -EINVAL)
        return sw_command_fail(command, "table %s has no %s '%s'", command->words[1], what, command->words[3]);
    if (sw_command_check(command, result, "the entry") < 0)
        return -1;
    sw_shadow_modify(command->sw->shadow, (uint32_t)table, handle, what, (struct sw_words){command->words + 3, 1});
    return 0;
}

int sw_do_table_indirect_modify(struct sw_command *command)
{
    return modify_indirect(command, false);
}

int sw_do_table_indirect_modify_with_group(struct sw_command *command)
{
    return modify_indirect(command, true);
}

static int set_default(struct sw_command *command, bool is_group)
{
    int table = indirect_table(command, is_group);
    const char *what = is_group ? "group" : "member";
    uint32_t target;

    if (table < 0 || sw_read_u32(command, command->words[2], what, UINT32_MAX, &target) < 0 ||
        sw_command_check(command, sw_table_set_default_indirect(command->pipeline, (uint16_t)table, is_group, target),
                         what) < 0)
        return -1;
    sw_shadow_set_default(command->sw->shadow, (uint32_t)table, what, (struct sw_words){command->words + 2, 1});
    return 0;
}

int sw_do_table_indirect_set_default(struct sw_command *command)
{
    return set_default(command, false);
}

int sw_do_table_indirect_set_default_with_group(struct sw_command *command)
{
    return set_default(command, true);
}
