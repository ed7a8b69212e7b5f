// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Numbers that packets carry and the control plane names. Private ones stand first in wire/constants.py; a test compares.
#ifndef SFC_CONSTANTS_P4
#define SFC_CONSTANTS_P4

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_MAC_CONTROL = 0x8808;

const bit<8> PROTOCOL_ICMP = 1;
const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;

const bit<16> ROCE_UDP_PORT = 4791;
const bit<16> BTS_UDP_PORT = 49791;

const bit<4> BTS_VERSION = 1;
const bit<6> BTS_DSCP = 56;
const bit<8> BTS_TTL = 64;
const bit<16> BTS_UDP_BYTES = 36;    // UDP header + BTS
const bit<16> BTS_IPV4_BYTES = 56;   // IPv4 header + UDP header + BTS
const bit<32> BTS_FRAME_BYTES = 70;  // Ethernet header + the above

// Why a BTS was sent, as the BTS header says it.
enum bit<8> bts_cause_t {
    none = 0,
    queue = 1,
    cache = 2,
    estimator = 3
}

// Why a packet was dropped: the low bits of the index of the `drops` counter.
enum bit<4> drop_reason_t {
    malformed = 0,
    no_route = 1,
    ttl_expired = 2,
    dynamic_threshold = 3,
    buffer_full = 4,
    untrusted_signal = 5,
    mac_control = 6
}

// What the `bts_events` counter counts.
enum bit<4> bts_event_t {
    sent_queue = 0,
    sent_cache = 1,
    sent_estimator = 2,
    suppressed_queue = 3,
    suppressed_cache = 4,
    suppressed_estimator = 5,
    cache_learned = 6,
    cache_refreshed = 7,
    cache_collision = 8
}

// v1model's instance type of a mirror copy.
const bit<32> INSTANCE_INGRESS_CLONE = 1;

// The mirror session that leads a trimmed copy to the recirculation port.
const bit<32> BTS_MIRROR_SESSION = 1;

// Field lists: what a mirror copy keeps, and what a recirculated BTS keeps.
const bit<8> MIRROR_FIELDS = 1;
const bit<8> RECIRCULATE_FIELDS = 2;

#endif
