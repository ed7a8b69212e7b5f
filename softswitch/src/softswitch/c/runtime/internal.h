/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Declarations shared by the runtime's own files: values, arguments, and the init and free functions of a pipeline's
 * parts. Generated code and the target never include it.
 */
#ifndef SW_INTERNAL_H
#define SW_INTERNAL_H

#include "runtime/runtime.h"

/* ---- values.c: big-endian values of control commands ---- */

/* True when the value has (bits + 7) / 8 bytes and no bit above `bits`. */
bool sw_value_fits(const struct sw_value *value, unsigned bits);
/* The low 64 bits. */
uint64_t sw_value_low64(const struct sw_value *value);
/* The number of words of an argument or register value of `bits` bits. */
unsigned sw_argument_words(unsigned bits);
unsigned sw_action_words(const struct sw_action_info *action);
/* Writes an action's arguments as entry words; returns 0, or -EINVAL without writing any. */
int sw_action_encode(uint64_t *words, const struct sw_action_info *action, const struct sw_value *args);

/* ---- table_key.c ---- */

unsigned sw_key_words(const struct sw_table_info *info);
/* Lists the ranges of a table in key order; `ranges` may be NULL to count them. */
unsigned sw_key_ranges(const struct sw_table_info *info, struct sw_range *ranges);
/* Writes key, masks and ranges in the layout of struct sw_entry, after the arguments; returns 0 or -EINVAL. */
int sw_key_encode(const struct sw_table *t, const struct sw_match *keys, uint64_t *words, uint16_t *prefix_bits);
/* The word masks of an LPM key whose prefix is `prefix_bits` long. */
void sw_key_prefix_mask(const struct sw_table_info *info, uint16_t prefix_bits, uint64_t *mask);

/* ---- a pipeline's parts; init returns 0 or -ENOMEM, free accepts a part whose init failed midway ---- */

int sw_table_init(struct sw_table *t, const struct sw_program *program, const struct sw_table_info *info);
void sw_table_free(struct sw_table *t);
/* Removes entries and default actions; must run before the reset of the profiles, to which entries refer. */
void sw_table_reset(struct sw_pipeline *p, struct sw_table *t);
int sw_profile_init(struct sw_profile *profile, const struct sw_program *program, uint16_t id);
void sw_profile_free(struct sw_profile *profile);
void sw_profile_reset(struct sw_profile *profile);
int sw_register_init(struct sw_register *reg, const struct sw_array_info *info);
void sw_value_set_init(struct sw_value_set *set, const struct sw_field_info *info);
int sw_digests_init(struct sw_digest_queue *queue, const struct sw_program *program);
int sw_counters_init(struct sw_counters *counters, uint32_t count);
int sw_meters_init(struct sw_meters *meters, const struct sw_array_info *info, uint32_t count);
/* Fills every bucket with its burst, as if no packet had arrived. */
void sw_meters_fill(struct sw_meters *meters);

/* Resets the cells of a table's direct counter and meter for an entry. */
void sw_direct_reset(struct sw_pipeline *p, const struct sw_table_info *info, uint32_t index);

/* Reference counting of members and groups by table entries. */
bool sw_profile_exists(const struct sw_profile *profile, bool is_group, uint32_t id);
void sw_profile_refer(struct sw_profile *profile, bool is_group, uint32_t id, int change);

#endif /* SW_INTERNAL_H */
