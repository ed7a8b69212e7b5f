/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Parses the words of a table entry: its keys, the words after `=>` and its priority.
 */
#include "control/words/entry.h"

#include "control/words/values.h"
#include "switch/shadow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void sw_free_entry(struct sw_entry_words *entry)
{
    free(entry->keys);
    free(entry->args);
    free(entry->bytes);
    *entry = (struct sw_entry_words){0};
}

static bool wants_priority(const struct sw_table_info *table)
{
    for (uint32_t i = 0; i < table->n_keys; i++) {
        uint8_t kind = table->keys[i].kind;

        if (kind == SW_MATCH_TERNARY || kind == SW_MATCH_RANGE || kind == SW_MATCH_OPTIONAL)
            return true;
    }
    return false;
}

static const char *const key_forms[] = {
    [SW_MATCH_EXACT] = "VALUE",       [SW_MATCH_LPM] = "VALUE/LENGTH",      [SW_MATCH_TERNARY] = "VALUE&&&MASK",
    [SW_MATCH_RANGE] = "FIRST->LAST", [SW_MATCH_OPTIONAL] = "VALUE&&&MASK",
};

/* Fails with the words that an entry of the table has after its action or table. */
static int fail_with_form(struct sw_command *command, const struct sw_table_info *table, const char *problem)
{
    struct sw_text form = {0};
    int result;

    for (uint32_t i = 0; i < table->n_keys; i++)
        sw_text_add(&form, "%s (%s) ", key_forms[table->keys[i].kind], table->keys[i].name);
    sw_text_add(&form, "=> ...%s", wants_priority(table) ? " PRIORITY" : "");
    result = sw_command_fail(command, "%s; type %s", problem, sw_text_string(&form));
    sw_text_free(&form);
    return result;
}

int sw_read_keys(struct sw_command *command, const struct sw_table_info *table, char **words, uint32_t n_words,
                 struct sw_entry_words *entry)
{
    char problem[256];
    size_t used = 0, room = 1;

    snprintf(problem, sizeof(problem), "table %s has %" PRIu16 " keys, not %" PRIu32, table->name, table->n_keys,
             n_words);
    if (n_words != table->n_keys)
        return fail_with_form(command, table, problem);
    for (uint32_t i = 0; i < table->n_keys; i++)
        room += 2 * ((table->keys[i].bits + 7u) / 8);
    entry->keys = calloc(table->n_keys + 1u, sizeof(*entry->keys));
    entry->bytes = malloc(room);
    if (!entry->keys || !entry->bytes)
        return sw_command_fail(command, "no memory");
    for (uint32_t i = 0; i < table->n_keys; i++) {
        const struct sw_key_info *key = &table->keys[i];
        uint8_t *value = entry->bytes + used;
        size_t n_bytes = (key->bits + 7u) / 8;

        if (sw_read_match(command, words[i], key, value, value + n_bytes, &entry->keys[i]) < 0)
            return -1;
        used += 2 * n_bytes;
    }
    return 0;
}

static int fail_with_parameters(struct sw_command *command, const struct sw_action_info *action, uint32_t n_words,
                                bool has_priority)
{
    struct sw_text names = {0};
    int result;

    for (uint32_t i = 0; i < action->n_params; i++)
        sw_text_add(&names, "%s%s", i ? " " : ": ", action->params[i].name);
    result = sw_command_fail(command, "action %s has %" PRIu16 " parameters, not %" PRIu32 "%s%s", action->name,
                             action->n_params, n_words, sw_text_string(&names),
                             has_priority ? "; the last word is the priority" : "");
    sw_text_free(&names);
    return result;
}

int sw_read_args(struct sw_command *command, const struct sw_action_info *action, char **words, uint32_t n_words,
                 struct sw_entry_words *entry)
{
    size_t room = 1;
    uint8_t *bytes;

    if (n_words != action->n_params)
        return fail_with_parameters(command, action, n_words, entry->has_priority);
    for (uint32_t i = 0; i < action->n_params; i++)
        room += (action->params[i].bits + 7u) / 8;
    /* The values follow the array that points at them. */
    entry->args = calloc(1, action->n_params * sizeof(*entry->args) + room);
    if (!entry->args)
        return sw_command_fail(command, "no memory");
    bytes = (uint8_t *)(entry->args + action->n_params);
    for (uint32_t i = 0; i < action->n_params; i++) {
        uint16_t n_bytes = (uint16_t)((action->params[i].bits + 7u) / 8);

        if (sw_read_value(command, words[i], action->params[i].bits, bytes) < 0)
            return -1;
        entry->args[i] = (struct sw_value){bytes, n_bytes};
        bytes += n_bytes;
    }
    return 0;
}

int sw_read_entry(struct sw_command *command, const struct sw_table_info *table, uint32_t first,
                  struct sw_entry_words *entry, char ***rest, uint32_t *n_rest)
{
    uint32_t end = command->n_words, arrow = first;
    uint64_t priority = 0;

    while (arrow < end && strcmp(command->words[arrow], "=>") != 0)
        arrow++;
    if (!table->n_keys)
        return sw_command_fail(command, "table %s has no keys, so it has no entries; type table_set_default %s%s",
                               table->name, table->name,
                               table->action_profile < 0 ? " ACTION PARAMETER..." : " MEMBER");
    if (arrow == end)
        return fail_with_form(command, table, "there is no '=>' after the keys");
    entry->has_priority = wants_priority(table);
    if (entry->has_priority) {
        if (arrow + 1 == end)
            return fail_with_form(command, table, "the table needs a priority as last word");
        if (sw_read_number(command, command->words[--end], "priority", INT32_MAX, &priority) < 0)
            return -1;
    }
    entry->priority = (int32_t)priority;
    *rest = command->words + arrow + 1;
    *n_rest = end - arrow - 1;
    return sw_read_keys(command, table, command->words + first, arrow - first, entry);
}

int32_t sw_shown_priority(const struct sw_table_info *table, const struct sw_entry_words *entry)
{
    return wants_priority(table) ? entry->priority : SW_NO_PRIORITY;
}
