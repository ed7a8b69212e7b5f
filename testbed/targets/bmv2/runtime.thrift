// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
//
// The part of BMv2's control interface that the testbed calls, of all three services: methods, field numbers and types.
// Every exception that BMv2 declares is a struct with a code; `errors.py` has the words. Names of arguments, structs and
// exceptions are ours: they do not travel.

typedef list<binary> ActionData

exception Refusal {
  1: i32 code
}

enum MatchType {
  EXACT = 0,
  LPM = 1,
  TERNARY = 2,
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

struct Range {
  1: binary low,
  2: binary high
}

struct Match {
  1: MatchType type,
  2: optional Exact exact,
  3: optional Lpm lpm,
  4: optional Ternary ternary,
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

struct Count {
  1: i64 bytes,
  2: i64 packets
}

struct Port {
  1: i32 number,
  2: string device,
  3: bool is_up,
  4: map<string, string> details
}

service standard {
  i32 bm_mt_add_entry(1: i32 context, 2: string table, 3: list<Match> keys, 4: string action, 5: ActionData data,
                      6: EntryOptions options) throws (1: Refusal refusal),
  void bm_mt_set_default_action(1: i32 context, 2: string table, 3: string action, 4: ActionData data)
      throws (1: Refusal refusal),
  void bm_mt_modify_entry(1: i32 context, 2: string table, 3: i32 entry, 4: string action, 5: ActionData data)
      throws (1: Refusal refusal),
  void bm_mt_delete_entry(1: i32 context, 2: string table, 3: i32 entry) throws (1: Refusal refusal),
  void bm_mt_clear_entries(1: i32 context, 2: string table, 3: bool reset_default) throws (1: Refusal refusal),
  list<Entry> bm_mt_get_entries(1: i32 context, 2: string table) throws (1: Refusal refusal),
  EntryAction bm_mt_get_default_entry(1: i32 context, 2: string table) throws (1: Refusal refusal),
  i64 bm_mt_get_num_entries(1: i32 context, 2: string table) throws (1: Refusal refusal),

  i64 bm_register_read(1: i32 context, 2: string array, 3: i32 index) throws (1: Refusal refusal),
  list<i64> bm_register_read_all(1: i32 context, 2: string array) throws (1: Refusal refusal),
  void bm_register_write(1: i32 context, 2: string array, 3: i32 index, 4: i64 value) throws (1: Refusal refusal),
  void bm_register_reset(1: i32 context, 2: string array) throws (1: Refusal refusal),

  Count bm_counter_read(1: i32 context, 2: string counter, 3: i32 index) throws (1: Refusal refusal),
  void bm_counter_write(1: i32 context, 2: string counter, 3: i32 index, 4: Count value) throws (1: Refusal refusal),
  void bm_counter_reset_all(1: i32 context, 2: string counter) throws (1: Refusal refusal),

  void bm_dev_mgr_add_port(1: string device, 2: i32 port, 3: string pcap) throws (1: Refusal refusal),
  list<Port> bm_dev_mgr_show_ports() throws (1: Refusal refusal)
}

struct MirroringSession {
  1: optional i32 port,
  2: optional i32 group
}

service simple_switch {
  void mirroring_session_add(1: i32 session, 2: MirroringSession target) throws (1: Refusal refusal),
  void mirroring_session_delete(1: i32 session) throws (1: Refusal refusal),

  i32 set_all_egress_queue_depths(1: i32 packets),
  i32 set_egress_queue_depth(1: i32 port, 2: i32 packets),
  i32 set_egress_priority_queue_depth(1: i32 port, 2: i32 priority, 3: i32 packets),
  i32 set_all_egress_queue_rates(1: i64 packets_per_s),
  i32 set_egress_queue_rate(1: i32 port, 2: i64 packets_per_s),
  i32 set_egress_priority_queue_rate(1: i32 port, 2: i32 priority, 3: i64 packets_per_s),

  i64 get_time_elapsed_us()
}

service simple_pre_lag {
  i32 bm_mc_mgrp_create(1: i32 context, 2: i32 group) throws (1: Refusal refusal),
  i32 bm_mc_node_create(1: i32 context, 2: i32 replication_id, 3: string ports, 4: string link_groups)
      throws (1: Refusal refusal),
  void bm_mc_node_associate(1: i32 context, 2: i32 group, 3: i32 node) throws (1: Refusal refusal)
}
