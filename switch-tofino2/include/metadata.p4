// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Headers of this chip's own, and metadata that accompanies a packet through one pipeline.
#ifndef SFC_T2_METADATA_P4
#define SFC_T2_METADATA_P4

#include "sizes.p4"

// What egress gets: a packet, or a copy that becomes a BTS. The first byte of both headers.
enum bit<8> packet_kind_t {
    packet = 1,
    copy_for_bts = 2
}

header bridged_h {
    packet_kind_t kind;
}

// What a copy that becomes a BTS carries from ingress.
header mirror_h {
    packet_kind_t kind;
    bit<4> reserved;
    bts_cause_t cause;
    bit<7> reserved2;
    port_t port;
    bit<8> traffic_class;
    cells_t depth_cells;
    cells_t excess_cells;      // depth above Q_tg
    bit<32> longest_us;        // the longer pause of cache and estimator
    bit<16> triggered;         // time in ticks, the lower bits
    bit<16> switch_id;
}

struct t2_headers_t {
    bridged_h bridged;
    mirror_h mirror;
    ethernet_h ethernet;
    mac_control_h mac_control;
    pfc_h pfc;
    ipv4_h ipv4;
    udp_h udp;
    tcp_h tcp;
    tcp_bts_h tcp_bts;
    bth_h bth;
    bts_h bts;
}

struct ingress_metadata_t {
    ticks_t now;
    bit<1> is_server_ingress;
    bit<1> is_own_signal;      // a BTS of this switch on its second pass
    bit<1> is_dropped;
    bit<1> is_watched;         // the packet's class may trigger a BTS
    bit<1> is_caching;
    bit<1> has_checksum_error;
    bit<16> l4_src_port;
    bit<16> l4_dst_port;
    bit<16> switch_id;
    bit<32> ecmp_salt;
    bit<32> flow_hash;
    group_t next_hop_group;
    bit<SLOT_BITS> slot;
    traffic_class_t traffic_class;
    bit<QUEUE_NUMBER_BITS> queue_number;
    cells_t depth_cells;
    cells_t q_th_cells;
    cells_t q_tg_cells;
    cells_t over_cells;        // depth above Q_th
    bit<1> is_learning;        // a BTS that the pause cache stores
    bit<CACHE_BITS> cache_place;
    bit<32> cache_key;
    ticks_t cache_end;
    bit<32> cached_us;         // rest of a cached pause
    bit<16> stale;             // not 0: that rest is void
    bit<1> is_estimated;
    bit<WATCHED_BITS> estimator;
    cells_t length_q8;         // of the packet, in 1/256 of a cell
    cells_t estimator_q_th;
    cells_t estimator_q_tg;
    rate_code_t estimator_rate;
    bit<32> estimate_us;       // the pause that the estimator asks for
    bit<1> is_suppressing;
    bit<8> mark;               // of the period
    bit<32> suppression_key;
    bts_cause_t cause;
    MirrorId_t session;
    mirror_h mirror;
}

struct egress_metadata_t {
    bit<1> is_copy;
    bit<16> l4_src_port;
    bit<16> l4_dst_port;
    bit<16> pause_us;
    bit<1> is_server_facing;
}

#endif
