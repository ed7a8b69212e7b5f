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

static uint32_t given_keys(const struct sw_table_info *table)
{
    uint32_t given = 0;

    for (uint32_t i = 0; i < table->n_keys; i++)
        given += table->keys[i].kind != SW_MATCH_SELECTOR;
    return given;
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

/* Commands have no words for selector fields, so the runtime gets an empty match for them. */
int sw_read_keys(struct sw_command *command, const struct sw_table_info *table, char **words, uint32_t n_words,
                 struct sw_entry_words *entry)
{
    size_t used = 0, room = 1;
    uint32_t word = 0;

    if (n_words != given_keys(table))
        return sw_command_fail(command, "table %s has %" PRIu32 " keys, not %" PRIu32, table->name, given_keys(table),
                               n_words);
    for (uint32_t i = 0; i < table->n_keys; i++)
        room += 2 * ((table->keys[i].bits + 7u) / 8);
    entry->keys = calloc(table->n_keys + 1u, sizeof(*entry->keys));
    entry->bytes = malloc(room);
    if (!entry->keys || !entry->bytes)
        return sw_command_fail(command, "no memory");
    for (uint32_t i = 0; i < table->n_keys; i++) {
        const struct sw_key_info *key = &table->keys[i];
        size_t n_bytes = (key->bits + 7u) / 8;

        if (key->kind == SW_MATCH_SELECTOR)
            continue;
        if (sw_read_match(command, words[word++], key, entry->bytes + used, entry->bytes + used + n_bytes,
                          &entry->keys[i]) < 0)
            return -1;
        used += 2 * n_bytes;
    }
    return 0;
}

int sw_read_args(struct sw_command *command, const struct sw_action_info *action, char **words, uint32_t n_words,
                 struct sw_entry_words *entry)
{
    size_t room = 1;
    uint8_t *bytes;

    if (n_words != action->n_params)
        return sw_command_fail(command, "action %s has %" PRIu16 " parameters, not %" PRIu32, action->name,
                               action->n_params, n_words);
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
    if (arrow == end)
        return sw_command_fail(command, "no '=>' after the keys");
    if (wants_priority(table)) {
        if (arrow + 1 == end)
            return sw_command_fail(command, "table %s needs a priority as last word", table->name);
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
