/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * A readable copy of the entries that control commands put into tables and action profiles, in the words of the
 * commands (the runtime stores them only in binary form). Const entries of the program are not included; table_dump
 * counts them. Must know neither commands nor packets.
 */
#ifndef SW_SHADOW_H
#define SW_SHADOW_H

#include "common/text.h"
#include "runtime/pipeline.h"

#define SW_NO_PRIORITY (-1)

/* Some words of a command. */
struct sw_words {
    char *const *first;
    uint32_t count;
};

struct sw_shadow;

/* Returns NULL when out of memory. Entries that later find no memory are missing in the dump, or appear as "?". */
struct sw_shadow *sw_shadow_create(const struct sw_program *program);
void sw_shadow_destroy(struct sw_shadow *shadow);

/* The index that a profile's list of members has in the place of a table; a member is an entry without keys. */
uint32_t sw_shadow_profile(const struct sw_program *program, uint32_t profile);

void sw_shadow_add(struct sw_shadow *shadow, uint32_t table, uint32_t handle, struct sw_words keys, const char *action,
                   struct sw_words args, int32_t priority);
void sw_shadow_modify(struct sw_shadow *shadow, uint32_t table, uint32_t handle, const char *action,
                      struct sw_words args);
void sw_shadow_delete(struct sw_shadow *shadow, uint32_t table, uint32_t handle);
void sw_shadow_clear(struct sw_shadow *shadow, uint32_t table);
void sw_shadow_set_default(struct sw_shadow *shadow, uint32_t table, const char *action, struct sw_words args);
/* Resets the shadow to its state after creation. */
void sw_shadow_forget(struct sw_shadow *shadow);

/* Prints a line per entry, then the number of further entries in the pipeline's table, then the default action. */
void sw_shadow_dump(const struct sw_shadow *shadow, const struct sw_pipeline *pipeline, uint32_t table,
                    struct sw_text *out);
/* Prints a line per member. */
void sw_shadow_dump_members(const struct sw_shadow *shadow, uint32_t list, struct sw_text *out);

#endif /* SW_SHADOW_H */
