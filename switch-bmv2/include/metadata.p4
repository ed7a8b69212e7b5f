// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Metadata that accompanies a packet through one switch.
#ifndef SFC_METADATA_P4
#define SFC_METADATA_P4

#include "constants.p4"
#include "types.p4"

// Data about the congested queue that the mirror copy needs in egress.
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
    @field_list(MIRROR_FIELDS)
    bit<1> is_depth_noted;    // the pause follows the depth that the last departure noted
}

// The signals to make from a packet's copy: a BTS, a pause frame, or both, one after the other.
struct signal_metadata_t {
    @field_list(MIRROR_FIELDS)
    bit<1> wants_bts;
    @field_list(MIRROR_FIELDS)
    bit<1> wants_pause;
    @field_list(MIRROR_FIELDS)
    port_t pause_port;
    @field_list(MIRROR_FIELDS)
    traffic_class_t pause_class;
    @field_list(MIRROR_FIELDS)
    bit<16> pause_quanta;
    @field_list(MIRROR_FIELDS)
    bit<1> names_queue;       // the pause is for one queue of the class
    @field_list(MIRROR_FIELDS)
    upstream_queue_t pause_queue;
}

// PFC parameters of the packet's (ingress port, class), looked up in ingress and in egress.
struct pfc_metadata_t {
    bit<1> is_lossless;
    bit<16> alpha_q8;
    bytes_t xon_offset_bytes;
    bytes_t shareable_bytes;  // buffer without headroom and reserves
    bytes_t reserve_bytes;
    duration_us_t refresh_us;
    port_t last_port;
}

// A packet's part in Backpressure Flow Control, which ingress determines and egress needs again.
struct bfc_metadata_t {
    @field_list(MIRROR_FIELDS)
    bit<1> is_managed;        // the packet's queue is chosen by its flow
    bit<1> is_counted;        // the packet requires a pause of its upstream queue
    bit<FLOW_BITS> flow;
    flow_queue_t queue;
    upstream_queue_t upstream;  // the packet's queue at the previous hop
    duration_us_t refresh_us;
    bytes_t hop_bytes;        // hop RTT x rate of the egress port
    @field_list(MIRROR_FIELDS)
    duration_us_t turn_us;    // the interval in which one upstream queue of each list may resume
    @field_list(MIRROR_FIELDS)
    flow_list_t list;         // the packet's queue, or another one whose list of upstream queues is served
    @field_list(MIRROR_FIELDS)
    duration_us_t wait_us;    // the rest of the pause of an upstream queue that resumes
    @field_list(MIRROR_FIELDS)
    traffic_class_t traffic_class;
}

// softswitch's own metadata. A header, because p4c keeps the names of headers only; it is never valid. BMv2 ignores it.
header softswitch_metadata_h {
    bit<8> egress_queue;      // of several queues of the packet's class, the one to join
}

struct metadata_t {
    bts_metadata_t bts;
    signal_metadata_t signal;
    pfc_metadata_t pfc;
    bfc_metadata_t bfc;
    softswitch_metadata_h softswitch_metadata;
    @field_list(RECIRCULATE_FIELDS)
    own_signal_t own_signal;   // on the second pass: the signal that this switch made
    @field_list(RECIRCULATE_FIELDS)
    port_t frame_port;         // on the second pass: the port to which this switch's pause frame goes
    @field_list(RECIRCULATE_FIELDS)
    time_us_t now_us;          // time at ingress; std has it on the first pass only
    bit<1> is_server_ingress;  // arrived on a port that faces a server
    bit<1> is_watched;         // the packet's class may trigger a BTS
    bit<1> is_egress_watched;  // the packet's own queue triggers in egress
    bit<1> is_dropped;
    bit<8> int_hops_left;      // used by the parser
    group_t next_hop_group;
    bit<16> group_size;
    bit<32> ecmp_salt;
    bit<16> switch_id;
    duration_us_t dilation;    // wall microseconds in a microsecond of the model
    @field_list(MIRROR_FIELDS)  // a mirror copy is parsed again, but that pass's metadata is lost
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
    bytes_t accounted_bytes;   // bytes added at enqueue and subtracted at dequeue
}

#endif
