/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * What the files of control/ share: a command being run, the reading of its words, and the list of all commands.
 */
#ifndef SW_CONTROL_COMMAND_H
#define SW_CONTROL_COMMAND_H

#include "switch/switch_state.h"
#include "common/text.h"

struct sw_command {
    struct sw_switch *sw;
    struct sw_text *out;
    char **words; /* [0] is the command itself */
    uint32_t n_words;
};

struct sw_command_row {
    const char *name;
    const char *usage;
    uint32_t min_words, max_words; /* without the command itself */
    int (*run)(struct sw_command *command);
};

#define SW_ANY_WORDS UINT32_MAX

/* ../control.c: puts one line of error in the place of what was printed; always -1. */
int sw_command_fail(struct sw_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A negative errno of the runtime in words about `what`; 0 stays 0. */
int sw_command_check(struct sw_command *command, int result, const char *what);

/* values.c. All fail the command and return -1, naming the word. */
int sw_read_number(struct sw_command *command, const char *word, const char *what, uint64_t max, uint64_t *number);
int sw_read_value(struct sw_command *command, const char *word, uint16_t bits, uint8_t *bytes);
int sw_read_match(struct sw_command *command, const char *word, const struct sw_key_info *key, uint8_t *value,
                  uint8_t *mask, struct sw_match *match);
void sw_print_value(struct sw_text *out, const uint8_t *bytes, uint16_t n_bytes);

/* names.c: an object by full name or by a suffix after a dot that only one has. */
int sw_find_table(struct sw_command *command, const char *word);
int sw_find_profile(struct sw_command *command, const char *word);
int sw_find_register(struct sw_command *command, const char *word);
int sw_find_counter(struct sw_command *command, const char *word);
int sw_find_meter(struct sw_command *command, const char *word);
int sw_find_table_action(struct sw_command *command, uint32_t table, const char *word);
int sw_find_profile_action(struct sw_command *command, uint32_t profile, const char *word);

/* entry.c: an entry's keys and arguments as the runtime wants them, in memory of their own. */
struct sw_entry_words {
    struct sw_match *keys;
    struct sw_value *args;
    uint8_t *bytes;
    int32_t priority;
};

int sw_read_keys(struct sw_command *command, const struct sw_table_info *table, char **words, uint32_t n_words,
                 struct sw_entry_words *entry);
int sw_read_args(struct sw_command *command, const struct sw_action_info *action, char **words, uint32_t n_words,
                 struct sw_entry_words *entry);
void sw_free_entry(struct sw_entry_words *entry);
/* Splits KEY... => REST... [PRIORITY] starting at words[first]: reads the keys, says where the rest is. */
int sw_read_entry(struct sw_command *command, const struct sw_table_info *table, uint32_t first,
                  struct sw_entry_words *entry, char ***rest, uint32_t *n_rest);

/* ../../switch/shadow.c: what was put where, in words, for table_dump. */
void sw_shadow_add(struct sw_switch *sw, uint32_t table, uint32_t handle, char **keys, uint32_t n_keys,
                   const char *action, char **args, uint32_t n_args);
void sw_shadow_modify(struct sw_switch *sw, uint32_t table, uint32_t handle, const char *action, char **args,
                      uint32_t n_args);
void sw_shadow_delete(struct sw_switch *sw, uint32_t table, uint32_t handle);
void sw_shadow_clear(struct sw_switch *sw, uint32_t table);
void sw_shadow_set_default(struct sw_switch *sw, uint32_t table, const char *action, char **args, uint32_t n_args);
void sw_shadow_dump(struct sw_switch *sw, uint32_t table, struct sw_text *out);

/* The commands, by file. */
int sw_do_show_tables(struct sw_command *command); /* ../tables.c */
int sw_do_show_actions(struct sw_command *command);
int sw_do_table_info(struct sw_command *command);
int sw_do_table_add(struct sw_command *command);
int sw_do_table_set_default(struct sw_command *command);
int sw_do_table_modify(struct sw_command *command);
int sw_do_table_delete(struct sw_command *command);
int sw_do_table_clear(struct sw_command *command);
int sw_do_table_dump(struct sw_command *command);
int sw_do_table_num_entries(struct sw_command *command);
int sw_do_act_prof_create_member(struct sw_command *command); /* ../profiles.c */
int sw_do_act_prof_modify_member(struct sw_command *command);
int sw_do_act_prof_delete_member(struct sw_command *command);
int sw_do_act_prof_create_group(struct sw_command *command);
int sw_do_act_prof_delete_group(struct sw_command *command);
int sw_do_act_prof_add_member_to_group(struct sw_command *command);
int sw_do_act_prof_remove_member_from_group(struct sw_command *command);
int sw_do_table_indirect_add(struct sw_command *command);
int sw_do_table_indirect_add_with_group(struct sw_command *command);
int sw_do_table_indirect_set_default(struct sw_command *command);
int sw_do_table_indirect_set_default_with_group(struct sw_command *command);
int sw_do_register_read(struct sw_command *command); /* ../arrays.c */
int sw_do_register_write(struct sw_command *command);
int sw_do_register_reset(struct sw_command *command);
int sw_do_counter_read(struct sw_command *command);
int sw_do_counter_write(struct sw_command *command);
int sw_do_counter_reset(struct sw_command *command);
int sw_do_meter_array_set_rates(struct sw_command *command);
int sw_do_meter_set_rates(struct sw_command *command);
int sw_do_meter_get_rates(struct sw_command *command);
int sw_do_digest_read(struct sw_command *command); /* ../digests.c */
int sw_do_mirroring_add(struct sw_command *command); /* ../replication.c */
int sw_do_mirroring_add_mc(struct sw_command *command);
int sw_do_mirroring_delete(struct sw_command *command);
int sw_do_mirroring_get(struct sw_command *command);
int sw_do_mc_mgrp_create(struct sw_command *command);
int sw_do_mc_mgrp_destroy(struct sw_command *command);
int sw_do_mc_node_create(struct sw_command *command);
int sw_do_mc_node_update(struct sw_command *command);
int sw_do_mc_node_associate(struct sw_command *command);
int sw_do_mc_node_dissociate(struct sw_command *command);
int sw_do_mc_node_destroy(struct sw_command *command);
int sw_do_mc_set_lag_membership(struct sw_command *command);
int sw_do_mc_dump(struct sw_command *command);
int sw_do_show_ports(struct sw_command *command); /* ../ports.c */
int sw_do_port_rate(struct sw_command *command);
int sw_do_port_delay(struct sw_command *command);
int sw_do_port_ingress_delay(struct sw_command *command);
int sw_do_port_mac_control(struct sw_command *command);
int sw_do_memory_limit(struct sw_command *command);
int sw_do_set_queue_depth(struct sw_command *command);
int sw_do_set_queue_rate(struct sw_command *command);
int sw_do_get_time_elapsed(struct sw_command *command);
int sw_do_statistics(struct sw_command *command);
int sw_do_help(struct sw_command *command); /* ../control.c */

#endif /* SW_CONTROL_COMMAND_H */
