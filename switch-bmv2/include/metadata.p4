// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// What a packet carries through one switch besides its headers.
#ifndef SFC_METADATA_P4
#define SFC_METADATA_P4

#include "constants.p4"
#include "types.p4"

// The congested queue as the mirror copy must know it in egress.
struct bts_metadata_t {
    @field_list(MIRROR_FIELDS)
    port_t port;
    @field_list(MIRROR_FIELDS)
    traffic_class_t traffic_class;
    @field_list(MIRROR_FIELDS)
    bts_cause_t cause;
    @field_list(MIRROR_FIELDS)
    duration_us_t cached_us;
    @field_list(MIRROR_FIELDS)
    bytes_t q_tg_bytes;
    @field_list(MIRROR_FIELDS)
    time_us_t triggered_us;
    @field_list(MIRROR_FIELDS)
    bit<16> switch_id;
}

// The signals that a packet's copy becomes: a BTS, a pause frame, or one after the other.
struct signal_metadata_t {
    @field_list(MIRROR_FIELDS)
    bit<1> wants_bts;
    @field_list(MIRROR_FIELDS)
    bit<1> wants_pause;
    @field_list(MIRROR_FIELDS, RECIRCULATE_FIELDS)
    port_t pause_port;
    @field_list(MIRROR_FIELDS)
    traffic_class_t pause_class;
    @field_list(MIRROR_FIELDS)
    bit<16> pause_quanta;
}

// PFC of the packet's (ingress port, class); found in ingress, used again in egress.
struct pfc_metadata_t {
    bit<1> is_lossless;
    bit<16> alpha_q8;
    bytes_t xon_offset_bytes;
    bytes_t shareable_bytes;  // buffer without headroom
    duration_us_t refresh_us;
}

struct metadata_t {
    bts_metadata_t bts;
    signal_metadata_t signal;
    pfc_metadata_t pfc;
    @field_list(RECIRCULATE_FIELDS)
    own_signal_t own_signal;   // what this switch made of a packet, on its second pass
    @field_list(RECIRCULATE_FIELDS)
    time_us_t now_us;          // in ingress: the time of this pass, as std has it for the first pass only
    bit<1> is_server_ingress;  // came in on a port that faces a server
    bit<1> is_watched;         // the packet's class may trigger a BTS
    bit<1> is_egress_watched;  // ... and its own queue does so in egress
    bit<1> is_dropped;
    bit<8> int_hops_left;      // of the parser
    group_t next_hop_group;
    bit<16> group_size;
    bit<32> ecmp_salt;
    bit<16> switch_id;
    @field_list(MIRROR_FIELDS)  // a mirror copy is parsed anew but keeps no metadata of that
    bit<16> l4_src_port;
    @field_list(MIRROR_FIELDS)
    bit<16> l4_dst_port;
    bit<32> flow_hash;
    traffic_class_t traffic_class;
    queue_index_t queue;
    bytes_t queue_bytes;       // depth of the packet's queue before it joins
    bytes_t port_bytes;        // in egress: bytes in all queues of its port without it
    bytes_t buffer_bytes;      // bytes in the whole shared buffer before it joins
    bytes_t q_th_bytes;
    bytes_t accounted_bytes;   // what it adds to both at enqueue and takes at dequeue
}

#endif
