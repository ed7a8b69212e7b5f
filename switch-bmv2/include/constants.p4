// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Numbers in packets and in commands of the control plane. sfc_testbed/wire/constants.py has the same numbers; a test compares them.
#ifndef SFC_CONSTANTS_P4
#define SFC_CONSTANTS_P4

#include "types.p4"

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_MAC_CONTROL = 0x8808;

const bit<8> PROTOCOL_ICMP = 1;
const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;

const bit<16> ROCE_UDP_PORT = 4791;
const bit<16> BTS_UDP_PORT = 1674;
const bit<16> INT_UDP_PORT = 49792;

const bit<8> ROCE_ACKNOWLEDGE = 0x11;  // opcode of ACK and NAK

const bit<8> BTS_VERSION = 0;
const bit<32> BTS_LONGEST_PAUSE = 65535;            // what the field of a pause can hold
const dscp_t BTS_DSCP = 56;
const bit<8> BTS_TTL = 64;
const bit<16> BTS_UDP_BYTES = 8 + 18;               // UDP header + BTS
const bit<16> BTS_IPV4_BYTES = 20 + BTS_UDP_BYTES;  // IPv4 header + the above
const bit<32> BTS_FRAME_BYTES = 60;                 // Ethernet header + the above

// A TCP signal has the same lengths. TCP's reserved bits distinguish it, with a checksum and an upper half of the sequence number
// of 0.
const bit<4> TCP_SIGNAL = 1;
const bit<4> TCP_HEADER_WORDS = 5;

// A BTS of cause sub_rtt also quotes the BTH of the data packet (control/feedback/bolt.p4).
const bit<16> SUB_RTT_UDP_BYTES = BTS_UDP_BYTES + 12;
const bit<16> SUB_RTT_IPV4_BYTES = BTS_IPV4_BYTES + 12;
const bit<32> SUB_RTT_FRAME_BYTES = BTS_FRAME_BYTES + 12;

// Bolt's flags in the six reserved bits of a data packet's BTH after BECN, which the ICRC does not cover.
const bit<6> BOLT_DEC = 1;    // a switch has asked the sender for a smaller window
const bit<6> BOLT_INC = 2;    // the sender asks for a larger window, and no switch has refused so far
const bit<6> BOLT_FIRST = 4;  // the sender has got no acknowledgement yet
const bit<6> BOLT_LAST = 8;   // the packet is in the flow's last window

// A data packet cut to its headers (control/queue/trimming.p4), and one on its way back to its sender.
const dscp_t TRIMMED_DSCP = 50;
const dscp_t RETURNED_DSCP = 52;
const bit<16> TRIMMED_UDP_BYTES = 8 + 12;                    // UDP header + BTH
const bit<16> TRIMMED_IPV4_BYTES = 20 + TRIMMED_UDP_BYTES;   // IPv4 header + the above
const bit<32> TRIMMED_FRAME_BYTES = 60;                      // minimum Ethernet frame without FCS

const mac_address_t PAUSE_ADDRESS = 0x0180C2000001;
const bit<16> PFC_OPCODE = 0x0101;
const bit<16> PFC_MAX_QUANTA = 0xFFFF;
const bit<32> PFC_FRAME_BYTES = 60;  // without FCS
const traffic_class_t PFC_CLASS = 7; // the class in which a switch queues its own pause frames

// Pause of one queue of a class: a MAC control frame of 802.3's extension (docs/wire-format.md#pause-of-a-queue).
const bit<16> EXTENSION_OPCODE = 0xFFFE;
const bit<24> QUEUE_PAUSE_ORGANIZATION = 0x5AFCBF;

// Flags of an INT header: it returns to its sender, it ends with its sender's time stamp, it has the compact layout, it names
// its path.
const bit<8> INT_ECHO = 1;
const bit<8> INT_STAMP = 2;
const bit<8> INT_COMPACT = 4;
const bit<8> INT_PATH = 8;
const bit<16> INT_PATH_FACTOR_SWITCH = 0x9E35;
const bit<16> INT_PATH_FACTOR_PORT = 0x85EB;
const bit<8> INT_MAX_HOPS = INT_HOPS;
const bit<16> INT_RECORD_BYTES = 16;
// Units of a slot of the compact layout. A number of bytes is divided by 80 as (number * reciprocal) >> shift, which is
// exact for 32 bits.
const bit<8> INT_SENT_SHIFT = 7;                      // 128 B
const bit<64> INT_QUEUE_RECIPROCAL = 0xCCCCCCCD;      // 2^38 / 80, rounded up
const bit<8> INT_QUEUE_SHIFT = 38;
const bit<64> INT_MOST_QUEUE = 0xFFFF;

const bit<2> ECN_NOT_CAPABLE = 0;
const bit<2> ECN_CONGESTION_EXPERIENCED = 3;

const bit<3> IPV4_DONT_FRAGMENT = 2;  // the identification of such a datagram is free

// Cause of a BTS, a field of the BTS header.
enum bit<4> bts_cause_t {
    none = 0,  // in a BTS: its switch names no cause
    queue = 1,
    cache = 2,
    estimator = 3,
    feedback = 4,
    sub_rtt = 5
}

// Kinds of packets on their second pass.
enum bit<2> own_signal_t {
    none = 0,
    bts = 1,
    pause = 2,
    returned = 3
}

// v1model's instance types of mirror copies.
const bit<32> INSTANCE_INGRESS_CLONE = 1;
const bit<32> INSTANCE_EGRESS_CLONE = 2;

// Mirror sessions that send copies to the recirculation port: one for copies that become a BTS, one for pause frames.
const bit<32> BTS_MIRROR_SESSION = 1;
const bit<32> PAUSE_MIRROR_SESSION = 2;

// Field lists: the metadata that a mirror copy keeps, and the metadata that a recirculated signal keeps.
const bit<8> MIRROR_FIELDS = 1;
const bit<8> RECIRCULATE_FIELDS = 2;

#endif
