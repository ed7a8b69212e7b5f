/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * What the runtime's own files share: values, arguments, and the lives of a pipeline's parts. Generated code and the
 * target never include it.
 */
#ifndef SW_INTERNAL_H
#define SW_INTERNAL_H

#include "runtime/runtime.h"

/* ---- values.c: big-endian values of control commands ---- */

/* True when the value has (bits + 7) / 8 bytes and no bit above `bits`. */
bool sw_value_fits(const struct sw_value *value, unsigned bits);
/* The low 64 bits. */
uint64_t sw_value_low64(const struct sw_value *value);
/* Words an argument or register value of `bits` bits takes. */
unsigned sw_argument_words(unsigned bits);
unsigned sw_action_words(const struct sw_action_info *action);
/* Checks and lays out an action's arguments; 0 or -EINVAL. */
int sw_action_encode(uint64_t *words, const struct sw_action_info *action, const struct sw_value *args);

/* ---- table_key.c ---- */

unsigned sw_key_words(const struct sw_table_info *info);
/* Ranges of a table in key order; `ranges` may be NULL to count them. */
unsigned sw_key_ranges(const struct sw_table_info *info, struct sw_range *ranges);
/* Lays out key, masks and ranges as struct sw_entry wants them after the arguments; 0 or -EINVAL. */
int sw_key_encode(const struct sw_table *t, const struct sw_match *keys, uint64_t *words, uint16_t *prefix_bits);
/* The word masks of an LPM key whose prefix is `prefix_bits` long. */
void sw_key_prefix_mask(const struct sw_table_info *info, uint16_t prefix_bits, uint64_t *mask);

/* ---- the lives of a pipeline's parts; init gives 0 or -ENOMEM, free accepts what init left half done ---- */

int sw_table_init(struct sw_table *t, const struct sw_program *program, const struct sw_table_info *info);
void sw_table_free(struct sw_table *t);
/* No entry and no default action; before that of the profiles, to which entries refer. */
void sw_table_reset(struct sw_pipeline *p, struct sw_table *t);
int sw_profile_init(struct sw_profile *profile, const struct sw_program *program, uint16_t id);
void sw_profile_free(struct sw_profile *profile);
void sw_profile_reset(struct sw_profile *profile);
int sw_register_init(struct sw_register *reg, const struct sw_array_info *info);
int sw_digests_init(struct sw_digest_queue *queue, const struct sw_program *program);
int sw_counters_init(struct sw_counters *counters, uint32_t count);
int sw_meters_init(struct sw_meters *meters, const struct sw_array_info *info, uint32_t count);
/* Every bucket holds its burst, as if no packet had come. */
void sw_meters_fill(struct sw_meters *meters);

/* Zeroes what a table's direct counter and meter hold for an entry. */
void sw_direct_reset(struct sw_pipeline *p, const struct sw_table_info *info, uint32_t index);

/* Reference counting of members and groups by table entries. */
bool sw_profile_exists(const struct sw_profile *profile, bool is_group, uint32_t id);
void sw_profile_refer(struct sw_profile *profile, bool is_group, uint32_t id, int change);

#endif /* SW_INTERNAL_H */
