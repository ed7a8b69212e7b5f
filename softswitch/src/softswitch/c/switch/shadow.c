/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "switch/shadow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct shadow_entry {
    uint32_t handle;
    char *keys;
    char *action;
    int32_t priority; /* SW_NO_PRIORITY in a table without priorities */
};

struct shadow_table {
    struct shadow_entry *entries;
    size_t count, capacity;
    char *default_action; /* NULL: the default action of the P4 program */
};

struct sw_shadow {
    uint32_t n_tables; /* tables, followed by profiles */
    struct shadow_table tables[];
};

struct sw_shadow *sw_shadow_create(const struct sw_program *program)
{
    uint32_t n_tables = sw_shadow_profile(program, program->n_profiles);
    struct sw_shadow *shadow = calloc(1, sizeof(*shadow) + n_tables * sizeof(struct shadow_table));

    if (shadow)
        shadow->n_tables = n_tables;
    return shadow;
}

uint32_t sw_shadow_profile(const struct sw_program *program, uint32_t profile)
{
    return program->n_tables + profile;
}

static void free_entry(struct shadow_entry *entry)
{
    free(entry->keys);
    free(entry->action);
}

void sw_shadow_destroy(struct sw_shadow *shadow)
{
    if (!shadow)
        return;
    sw_shadow_forget(shadow);
    for (uint32_t i = 0; i < shadow->n_tables; i++)
        free(shadow->tables[i].entries);
    free(shadow);
}

/* Joins `first` and the words with blanks in new memory; NULL when out of memory. */
static char *join(const char *first, struct sw_words words)
{
    struct sw_text text = {0};

    sw_text_add(&text, "%s", first);
    for (uint32_t i = 0; i < words.count; i++)
        sw_text_add(&text, "%s%s", text.length ? " " : "", words.first[i]);
    return text.bytes ? realloc(text.bytes, text.length + 1) : NULL;
}

static struct shadow_entry *find(struct shadow_table *table, uint32_t handle)
{
    for (size_t i = table->count; i-- > 0;) {
        if (table->entries[i].handle == handle)
            return &table->entries[i];
    }
    return NULL;
}

void sw_shadow_add(struct sw_shadow *shadow, uint32_t table_id, uint32_t handle, struct sw_words keys,
                   const char *action, struct sw_words args, int32_t priority)
{
    struct shadow_table *table = &shadow->tables[table_id];

    if (table->count == table->capacity) {
        size_t capacity = table->capacity ? 2 * table->capacity : 16;
        struct shadow_entry *entries = realloc(table->entries, capacity * sizeof(*entries));

        if (!entries)
            return;
        table->entries = entries;
        table->capacity = capacity;
    }
    table->entries[table->count++] = (struct shadow_entry){handle, join("", keys), join(action, args), priority};
}

void sw_shadow_modify(struct sw_shadow *shadow, uint32_t table, uint32_t handle, const char *action,
                      struct sw_words args)
{
    struct shadow_entry *entry = find(&shadow->tables[table], handle);

    if (!entry)
        return;
    free(entry->action);
    entry->action = join(action, args);
}

void sw_shadow_delete(struct sw_shadow *shadow, uint32_t table_id, uint32_t handle)
{
    struct shadow_table *table = &shadow->tables[table_id];
    struct shadow_entry *entry = find(table, handle);

    if (!entry)
        return;
    free_entry(entry);
    memmove(entry, entry + 1, (size_t)(&table->entries[--table->count] - entry) * sizeof(*entry));
}

void sw_shadow_clear(struct sw_shadow *shadow, uint32_t table_id)
{
    struct shadow_table *table = &shadow->tables[table_id];

    for (size_t i = 0; i < table->count; i++)
        free_entry(&table->entries[i]);
    table->count = 0;
}

void sw_shadow_set_default(struct sw_shadow *shadow, uint32_t table_id, const char *action, struct sw_words args)
{
    struct shadow_table *table = &shadow->tables[table_id];

    free(table->default_action);
    table->default_action = join(action, args);
}

void sw_shadow_forget(struct sw_shadow *shadow)
{
    for (uint32_t i = 0; i < shadow->n_tables; i++) {
        sw_shadow_clear(shadow, i);
        free(shadow->tables[i].default_action);
        shadow->tables[i].default_action = NULL;
    }
}

static const char *or_lost(const char *text)
{
    return text ? text : "?";
}

static const char *programs_default(const struct sw_program *program, uint32_t table)
{
    int32_t action = program->tables[table].default_action;

    return action < 0 ? "none" : program->actions[action].name;
}

void sw_shadow_dump(const struct sw_shadow *shadow, const struct sw_pipeline *pipeline, uint32_t table_id,
                    struct sw_text *out)
{
    const struct shadow_table *table = &shadow->tables[table_id];
    int64_t n_const = sw_table_count(pipeline, (uint16_t)table_id) - (int64_t)table->count;

    for (size_t i = 0; i < table->count; i++) {
        const struct shadow_entry *entry = &table->entries[i];

        sw_text_add(out, "entry %" PRIu32 ": %s => %s", entry->handle, or_lost(entry->keys), or_lost(entry->action));
        if (entry->priority != SW_NO_PRIORITY)
            sw_text_add(out, " priority %" PRId32, entry->priority);
        sw_text_add(out, "\n");
    }
    if (n_const > 0)
        sw_text_add(out, "and %" PRId64 " const entries\n", n_const);
    sw_text_add(out, "default: %s\n",
                table->default_action ? table->default_action
                                      : programs_default(sw_pipeline_program(pipeline), table_id));
}

void sw_shadow_dump_members(const struct sw_shadow *shadow, uint32_t list, struct sw_text *out)
{
    const struct shadow_table *members = &shadow->tables[list];

    for (size_t i = 0; i < members->count; i++)
        sw_text_add(out, "member %" PRIu32 ": %s\n", members->entries[i].handle, or_lost(members->entries[i].action));
}
