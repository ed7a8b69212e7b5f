/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The functions of the commands, by file; control.c holds their names and usage.
 */
#ifndef SW_COMMANDS_H
#define SW_COMMANDS_H

#include "control/words/command.h"

/* Reads the port in words[1], which must have a device. */
int sw_read_port(struct sw_command *command, uint32_t *port); /* ports.c */

int sw_do_show_tables(struct sw_command *command); /* tables.c */
int sw_do_show_actions(struct sw_command *command);
int sw_do_table_info(struct sw_command *command);
int sw_do_table_add(struct sw_command *command);
int sw_do_table_set_default(struct sw_command *command);
int sw_do_table_modify(struct sw_command *command);
int sw_do_table_delete(struct sw_command *command);
int sw_do_table_clear(struct sw_command *command);
int sw_do_table_dump(struct sw_command *command);
int sw_do_table_num_entries(struct sw_command *command);
int sw_do_table_ages(struct sw_command *command);
int sw_do_act_prof_create_member(struct sw_command *command); /* profiles.c */
int sw_do_act_prof_modify_member(struct sw_command *command);
int sw_do_act_prof_delete_member(struct sw_command *command);
int sw_do_act_prof_create_group(struct sw_command *command);
int sw_do_act_prof_delete_group(struct sw_command *command);
int sw_do_act_prof_add_member_to_group(struct sw_command *command);
int sw_do_act_prof_remove_member_from_group(struct sw_command *command);
int sw_do_table_indirect_add(struct sw_command *command);
int sw_do_table_indirect_add_with_group(struct sw_command *command);
int sw_do_table_indirect_modify(struct sw_command *command);
int sw_do_table_indirect_modify_with_group(struct sw_command *command);
int sw_do_table_indirect_set_default(struct sw_command *command);
int sw_do_act_prof_dump(struct sw_command *command);
int sw_do_table_indirect_set_default_with_group(struct sw_command *command);
int sw_do_register_read(struct sw_command *command); /* arrays.c */
int sw_do_register_write(struct sw_command *command);
int sw_do_register_reset(struct sw_command *command);
int sw_do_counter_read(struct sw_command *command);
int sw_do_counter_write(struct sw_command *command);
int sw_do_counter_reset(struct sw_command *command);
int sw_do_meter_array_set_rates(struct sw_command *command);
int sw_do_meter_set_rates(struct sw_command *command);
int sw_do_meter_get_rates(struct sw_command *command);
int sw_do_meter_clear_rates(struct sw_command *command);
int sw_do_set_crc16_parameters(struct sw_command *command); /* crcs.c */
int sw_do_set_crc32_parameters(struct sw_command *command);
int sw_do_show_pvs(struct sw_command *command); /* value_sets.c */
int sw_do_pvs_add(struct sw_command *command);
int sw_do_pvs_remove(struct sw_command *command);
int sw_do_pvs_get(struct sw_command *command);
int sw_do_pvs_clear(struct sw_command *command);
int sw_do_digest_read(struct sw_command *command);   /* digests.c */
int sw_do_drops_read(struct sw_command *command);    /* drops.c */
int sw_do_mirroring_add(struct sw_command *command); /* replication.c */
int sw_do_mirroring_add_mc(struct sw_command *command);
int sw_do_mirroring_add_port_and_mgrp(struct sw_command *command);
int sw_do_mirroring_delay(struct sw_command *command);
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
int sw_do_show_ports(struct sw_command *command); /* ports.c */
int sw_do_show_port_settings(struct sw_command *command);
int sw_do_port_rate(struct sw_command *command);
int sw_do_port_delay(struct sw_command *command);
int sw_do_port_ingress_delay(struct sw_command *command);
int sw_do_port_mac_control(struct sw_command *command);
int sw_do_port_link(struct sw_command *command);
int sw_do_port_impair(struct sw_command *command); /* impairments.c */
int sw_do_memory_limit(struct sw_command *command);
int sw_do_port_queues(struct sw_command *command);
int sw_do_set_queue_depth(struct sw_command *command);
int sw_do_set_queue_rate(struct sw_command *command);
int sw_do_get_time_elapsed(struct sw_command *command);
int sw_do_statistics(struct sw_command *command);
int sw_do_power(struct sw_command *command); /* outages.c */
int sw_do_stall(struct sw_command *command);
int sw_do_reset_state(struct sw_command *command); /* reset.c */

#endif /* SW_COMMANDS_H */
