/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * What control commands put into tables, in the words of the commands: the runtime does not tell its entries, and a
 * person wants to read them. Entries that are const in the program are not here; table_dump counts them.
 */
#include "control/words/command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct shadow_entry {
    uint32_t handle;
    char *keys;
    char *action;
};

struct shadow_table {
    struct shadow_entry *entries;
    size_t count, capacity;
    char *default_action; /* NULL: the program's */
};

struct sw_control_shadow {
    uint32_t n_tables;
    struct shadow_table tables[];
};

static struct shadow_table *table_of(struct sw_switch *sw, uint32_t table)
{
    uint32_t n_tables = sw->program->n_tables;

    if (!sw->shadow) {
        sw->shadow = calloc(1, sizeof(*sw->shadow) + n_tables * sizeof(struct shadow_table));
        if (!sw->shadow)
            return NULL;
        sw->shadow->n_tables = n_tables;
    }
    return &sw->shadow->tables[table];
}

static void free_entry(struct shadow_entry *entry)
{
    free(entry->keys);
    free(entry->action);
}

void sw_control_shadow_free(struct sw_switch *sw)
{
    if (!sw->shadow)
        return;
    for (uint32_t i = 0; i < sw->shadow->n_tables; i++) {
        sw_shadow_clear(sw, i);
        free(sw->shadow->tables[i].entries);
        free(sw->shadow->tables[i].default_action);
    }
    free(sw->shadow);
    sw->shadow = NULL;
}

/* `first` and the words, blanks between; memory of its own, NULL when there is none. */
static char *join(const char *first, char **words, uint32_t n_words)
{
    struct sw_text text = {0};

    sw_text_add(&text, "%s", first);
    for (uint32_t i = 0; i < n_words; i++)
        sw_text_add(&text, "%s%s", text.length ? " " : "", words[i]);
    return text.bytes ? realloc(text.bytes, text.length + 1) : NULL;
}

static struct shadow_entry *find(struct shadow_table *table, uint32_t handle)
{
    for (size_t i = table ? table->count : 0; i-- > 0;) {
        if (table->entries[i].handle == handle)
            return &table->entries[i];
    }
    return NULL;
}

void sw_shadow_add(struct sw_switch *sw, uint32_t table_id, uint32_t handle, char **keys, uint32_t n_keys,
                   const char *action, char **args, uint32_t n_args)
{
    struct shadow_table *table = table_of(sw, table_id);

    if (!table)
        return;
    if (table->count == table->capacity) {
        size_t capacity = table->capacity ? 2 * table->capacity : 16;
        struct shadow_entry *entries = realloc(table->entries, capacity * sizeof(*entries));

        if (!entries)
            return;
        table->entries = entries;
        table->capacity = capacity;
    }
    table->entries[table->count++] = (struct shadow_entry){
        .handle = handle, .keys = join("", keys, n_keys), .action = join(action, args, n_args)};
}

void sw_shadow_modify(struct sw_switch *sw, uint32_t table, uint32_t handle, const char *action, char **args,
                      uint32_t n_args)
{
    struct shadow_entry *entry = find(table_of(sw, table), handle);

    if (!entry)
        return;
    free(entry->action);
    entry->action = join(action, args, n_args);
}

void sw_shadow_delete(struct sw_switch *sw, uint32_t table_id, uint32_t handle)
{
    struct shadow_table *table = table_of(sw, table_id);
    struct shadow_entry *entry = find(table, handle);

    if (!entry)
        return;
    free_entry(entry);
    memmove(entry, entry + 1, (size_t)(&table->entries[--table->count] - entry) * sizeof(*entry));
}

void sw_shadow_clear(struct sw_switch *sw, uint32_t table_id)
{
    struct shadow_table *table = table_of(sw, table_id);

    for (size_t i = 0; table && i < table->count; i++)
        free_entry(&table->entries[i]);
    if (table)
        table->count = 0;
}

void sw_shadow_set_default(struct sw_switch *sw, uint32_t table_id, const char *action, char **args, uint32_t n_args)
{
    struct shadow_table *table = table_of(sw, table_id);

    if (!table)
        return;
    free(table->default_action);
    table->default_action = join(action, args, n_args);
}

static const char *or_lost(const char *text)
{
    return text ? text : "?";
}

void sw_shadow_dump(struct sw_switch *sw, uint32_t table_id, struct sw_text *out)
{
    const struct sw_table_info *info = &sw->program->tables[table_id];
    struct shadow_table *table = table_of(sw, table_id);
    int64_t total = sw_table_count(sw->pipeline, (uint16_t)table_id);

    if (!table)
        return;
    for (size_t i = 0; i < table->count; i++) {
        const struct shadow_entry *entry = &table->entries[i];

        sw_text_add(out, "entry %" PRIu32 ": %s => %s\n", entry->handle, or_lost(entry->keys), or_lost(entry->action));
    }
    if (total > (int64_t)table->count)
        sw_text_add(out, "and %" PRId64 " const entries\n", total - (int64_t)table->count);
    if (table->default_action)
        sw_text_add(out, "default: %s\n", table->default_action);
    else
        sw_text_add(out, "default: %s\n", info->default_action < 0 ? "none"
                                                                   : sw->program->actions[info->default_action].name);
}
