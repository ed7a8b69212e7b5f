// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
//
// BMv2's control interface: the testbed calls a part of it on BMv2, and softswitch answers all of it. The methods, field
// numbers and types of the three services are BMv2's. Every declared exception is a struct with a code, listed in
// `softswitch/thrift/refusals.py`. Names of arguments, structs and exceptions are our own, since they are not sent.

typedef list<binary> ActionData

exception Refusal {
  1: i32 code
}

enum MatchType {
  EXACT = 0,
  LPM = 1,
  TERNARY = 2,
  VALID = 3,
  RANGE = 4
}

struct Exact {
  1: binary key
}

struct Lpm {
  1: binary key,
  2: i32 prefix_bits
}

struct Ternary {
  1: binary key,
  2: binary mask
}

struct Valid {
  1: bool is_valid
}

struct Range {
  1: binary low,
  2: binary high
}

struct Match {
  1: MatchType type,
  2: optional Exact exact,
  3: optional Lpm lpm,
  4: optional Ternary ternary,
  5: optional Valid valid,
  6: optional Range range
}

struct EntryOptions {
  1: optional i32 priority
}

enum EntryActionType {
  NONE = 0,
  ACTION = 1,
  MEMBER = 2,
  GROUP = 3
}

struct EntryAction {
  1: EntryActionType type,
  2: optional string action,
  3: optional ActionData data,
  4: optional i32 member,
  5: optional i32 group
}

struct Entry {
  1: list<Match> keys,
  2: EntryOptions options,
  3: i32 handle,
  4: EntryAction action
}

struct Member {
  1: i32 handle,
  2: string action,
  3: ActionData data
}

struct Group {
  1: i32 handle,
  2: list<i32> members
}

struct Count {
  1: i64 bytes,
  2: i64 packets
}

struct Rate {
  1: double units_per_us,
  2: i32 burst_units
}

struct Port {
  1: i32 number,
  2: string device,
  3: bool is_up,
  4: map<string, string> details
}

struct Crc16 {
  1: i16 polynomial,
  2: i16 initial_value,
  3: i16 final_xor,
  4: bool reflects_data,
  5: bool reflects_result
}

struct Crc32 {
  1: i32 polynomial,
  2: i32 initial_value,
  3: i32 final_xor,
  4: bool reflects_data,
  5: bool reflects_result
}

struct SwitchInfo {
  1: i64 device_id,
  2: i32 thrift_port,
  3: optional string notifications
}

service standard {
  // Tables
  i64 bm_mt_get_num_entries(1: i32 context, 2: string table) throws (1: Refusal refusal),
  void bm_mt_clear_entries(1: i32 context, 2: string table, 3: bool reset_default) throws (1: Refusal refusal),
  i32 bm_mt_add_entry(1: i32 context, 2: string table, 3: list<Match> keys, 4: string action, 5: ActionData data,
                      6: EntryOptions options) throws (1: Refusal refusal),
  void bm_mt_set_default_action(1: i32 context, 2: string table, 3: string action, 4: ActionData data)
      throws (1: Refusal refusal),
  void bm_mt_reset_default_entry(1: i32 context, 2: string table) throws (1: Refusal refusal),
  void bm_mt_delete_entry(1: i32 context, 2: string table, 3: i32 entry) throws (1: Refusal refusal),
  void bm_mt_modify_entry(1: i32 context, 2: string table, 3: i32 entry, 4: string action, 5: ActionData data)
      throws (1: Refusal refusal),
  void bm_mt_set_entry_ttl(1: i32 context, 2: string table, 3: i32 entry, 4: i32 timeout_ms)
      throws (1: Refusal refusal),
  list<Entry> bm_mt_get_entries(1: i32 context, 2: string table) throws (1: Refusal refusal),
  Entry bm_mt_get_entry(1: i32 context, 2: string table, 3: i32 entry) throws (1: Refusal refusal),
  EntryAction bm_mt_get_default_entry(1: i32 context, 2: string table) throws (1: Refusal refusal),
  Entry bm_mt_get_entry_from_key(1: i32 context, 2: string table, 3: list<Match> keys, 4: EntryOptions options)
      throws (1: Refusal refusal),

  // Action profiles, and tables whose entries name members and groups of one
  i32 bm_mt_act_prof_add_member(1: i32 context, 2: string profile, 3: string action, 4: ActionData data)
      throws (1: Refusal refusal),
  void bm_mt_act_prof_delete_member(1: i32 context, 2: string profile, 3: i32 member) throws (1: Refusal refusal),
  void bm_mt_act_prof_modify_member(1: i32 context, 2: string profile, 3: i32 member, 4: string action,
                                    5: ActionData data) throws (1: Refusal refusal),
  i32 bm_mt_act_prof_create_group(1: i32 context, 2: string profile) throws (1: Refusal refusal),
  void bm_mt_act_prof_delete_group(1: i32 context, 2: string profile, 3: i32 group) throws (1: Refusal refusal),
  void bm_mt_act_prof_add_member_to_group(1: i32 context, 2: string profile, 3: i32 member, 4: i32 group)
      throws (1: Refusal refusal),
  void bm_mt_act_prof_remove_member_from_group(1: i32 context, 2: string profile, 3: i32 member, 4: i32 group)
      throws (1: Refusal refusal),
  list<Member> bm_mt_act_prof_get_members(1: i32 context, 2: string profile) throws (1: Refusal refusal),
  Member bm_mt_act_prof_get_member(1: i32 context, 2: string profile, 3: i32 member) throws (1: Refusal refusal),
  list<Group> bm_mt_act_prof_get_groups(1: i32 context, 2: string profile) throws (1: Refusal refusal),
  Group bm_mt_act_prof_get_group(1: i32 context, 2: string profile, 3: i32 group) throws (1: Refusal refusal),
  i32 bm_mt_indirect_add_entry(1: i32 context, 2: string table, 3: list<Match> keys, 4: i32 member,
                               5: EntryOptions options) throws (1: Refusal refusal),
  void bm_mt_indirect_modify_entry(1: i32 context, 2: string table, 3: i32 entry, 4: i32 member)
      throws (1: Refusal refusal),
  void bm_mt_indirect_delete_entry(1: i32 context, 2: string table, 3: i32 entry) throws (1: Refusal refusal),
  void bm_mt_indirect_set_entry_ttl(1: i32 context, 2: string table, 3: i32 entry, 4: i32 timeout_ms)
      throws (1: Refusal refusal),
  void bm_mt_indirect_set_default_member(1: i32 context, 2: string table, 3: i32 member) throws (1: Refusal refusal),
  void bm_mt_indirect_reset_default_entry(1: i32 context, 2: string table) throws (1: Refusal refusal),
  i32 bm_mt_indirect_ws_add_entry(1: i32 context, 2: string table, 3: list<Match> keys, 4: i32 group,
                                  5: EntryOptions options) throws (1: Refusal refusal),
  void bm_mt_indirect_ws_modify_entry(1: i32 context, 2: string table, 3: i32 entry, 4: i32 group)
      throws (1: Refusal refusal),
  void bm_mt_indirect_ws_set_default_group(1: i32 context, 2: string table, 3: i32 group) throws (1: Refusal refusal),

  // Counters, meters and registers; direct ones are identified by a table's name and an entry
  Count bm_mt_read_counter(1: i32 context, 2: string table, 3: i32 entry) throws (1: Refusal refusal),
  void bm_mt_reset_counters(1: i32 context, 2: string table) throws (1: Refusal refusal),
  void bm_mt_write_counter(1: i32 context, 2: string table, 3: i32 entry, 4: Count value) throws (1: Refusal refusal),
  void bm_mt_set_meter_rates(1: i32 context, 2: string table, 3: i32 entry, 4: list<Rate> rates)
      throws (1: Refusal refusal),
  list<Rate> bm_mt_get_meter_rates(1: i32 context, 2: string table, 3: i32 entry) throws (1: Refusal refusal),
  Count bm_counter_read(1: i32 context, 2: string counter, 3: i32 index) throws (1: Refusal refusal),
  void bm_counter_reset_all(1: i32 context, 2: string counter) throws (1: Refusal refusal),
  void bm_counter_write(1: i32 context, 2: string counter, 3: i32 index, 4: Count value) throws (1: Refusal refusal),
  void bm_meter_array_set_rates(1: i32 context, 2: string meter, 3: list<Rate> rates) throws (1: Refusal refusal),
  void bm_meter_set_rates(1: i32 context, 2: string meter, 3: i32 index, 4: list<Rate> rates)
      throws (1: Refusal refusal),
  list<Rate> bm_meter_get_rates(1: i32 context, 2: string meter, 3: i32 index) throws (1: Refusal refusal),
  i64 bm_register_read(1: i32 context, 2: string array, 3: i32 index) throws (1: Refusal refusal),
  list<i64> bm_register_read_all(1: i32 context, 2: string array) throws (1: Refusal refusal),
  void bm_register_write(1: i32 context, 2: string array, 3: i32 index, 4: i64 value) throws (1: Refusal refusal),
  void bm_register_write_range(1: i32 context, 2: string array, 3: i32 first, 4: i32 behind_last, 5: i64 value)
      throws (1: Refusal refusal),
  void bm_register_reset(1: i32 context, 2: string array) throws (1: Refusal refusal),

  // Digests and value sets
  void bm_learning_ack(1: i32 context, 2: i32 digest, 3: i64 buffer, 4: list<i32> samples)
      throws (1: Refusal refusal),
  void bm_learning_ack_buffer(1: i32 context, 2: i32 digest, 3: i64 buffer) throws (1: Refusal refusal),
  void bm_learning_set_timeout(1: i32 context, 2: i32 digest, 3: i32 timeout_ms) throws (1: Refusal refusal),
  void bm_learning_set_buffer_size(1: i32 context, 2: i32 digest, 3: i32 samples) throws (1: Refusal refusal),
  void bm_parse_vset_add(1: i32 context, 2: string value_set, 3: binary value) throws (1: Refusal refusal),
  void bm_parse_vset_remove(1: i32 context, 2: string value_set, 3: binary value) throws (1: Refusal refusal),
  list<binary> bm_parse_vset_get(1: i32 context, 2: string value_set) throws (1: Refusal refusal),
  void bm_parse_vset_clear(1: i32 context, 2: string value_set) throws (1: Refusal refusal),

  // The switch
  void bm_load_new_config(1: string program) throws (1: Refusal refusal),
  void bm_swap_configs() throws (1: Refusal refusal),
  void bm_dev_mgr_add_port(1: string device, 2: i32 port, 3: string pcap) throws (1: Refusal refusal),
  void bm_dev_mgr_remove_port(1: i32 port) throws (1: Refusal refusal),
  list<Port> bm_dev_mgr_show_ports() throws (1: Refusal refusal),
  SwitchInfo bm_mgmt_get_info(),
  void bm_set_crc16_custom_parameters(1: i32 context, 2: string calculation, 3: Crc16 parameters)
      throws (1: Refusal refusal),
  void bm_set_crc32_custom_parameters(1: i32 context, 2: string calculation, 3: Crc32 parameters)
      throws (1: Refusal refusal),
  void bm_set_toeplitz_hash_key(1: i32 context, 2: string calculation, 3: binary key) throws (1: Refusal refusal),
  void bm_reset_state(),
  string bm_get_config(),
  binary bm_get_config_md5(),
  i32 bm_get_id_from_name(1: i32 context, 2: i32 resource, 3: string name) throws (1: Refusal refusal),
  string bm_serialize_state()
}

struct MirroringSession {
  1: optional i32 port,
  2: optional i32 group
}

service simple_switch {
  i32 mirroring_mapping_add(1: i32 session, 2: i32 port),
  i32 mirroring_mapping_delete(1: i32 session),
  i32 mirroring_mapping_get_egress_port(1: i32 session),
  void mirroring_session_add(1: i32 session, 2: MirroringSession target) throws (1: Refusal refusal),
  void mirroring_session_delete(1: i32 session) throws (1: Refusal refusal),
  MirroringSession mirroring_session_get(1: i32 session) throws (1: Refusal refusal),

  i32 set_all_egress_queue_depths(1: i32 packets),
  i32 set_egress_queue_depth(1: i32 port, 2: i32 packets),
  i32 set_egress_priority_queue_depth(1: i32 port, 2: i32 priority, 3: i32 packets),
  i32 set_all_egress_queue_rates(1: i64 packets_per_s),
  i32 set_egress_queue_rate(1: i32 port, 2: i64 packets_per_s),
  i32 set_egress_priority_queue_rate(1: i32 port, 2: i32 priority, 3: i64 packets_per_s),

  i64 get_time_elapsed_us(),
  i64 get_time_since_epoch_us()
}

// Maps of ports and of link aggregation groups are strings of 0 and 1; the last character is number 0.
service simple_pre_lag {
  i32 bm_mc_mgrp_create(1: i32 context, 2: i32 group) throws (1: Refusal refusal),
  void bm_mc_mgrp_destroy(1: i32 context, 2: i32 group) throws (1: Refusal refusal),
  i32 bm_mc_node_create(1: i32 context, 2: i32 replication_id, 3: string ports, 4: string link_groups)
      throws (1: Refusal refusal),
  void bm_mc_node_associate(1: i32 context, 2: i32 group, 3: i32 node) throws (1: Refusal refusal),
  void bm_mc_node_dissociate(1: i32 context, 2: i32 group, 3: i32 node) throws (1: Refusal refusal),
  void bm_mc_node_destroy(1: i32 context, 2: i32 node) throws (1: Refusal refusal),
  void bm_mc_node_update(1: i32 context, 2: i32 node, 3: string ports, 4: string link_groups)
      throws (1: Refusal refusal),
  void bm_mc_set_lag_membership(1: i32 context, 2: i16 link_group, 3: string ports) throws (1: Refusal refusal),
  string bm_mc_get_entries(1: i32 context) throws (1: Refusal refusal)
}
