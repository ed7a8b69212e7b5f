// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Headers with their fields in wire order (docs/wire-format.md).
#ifndef SFC_HEADERS_P4
#define SFC_HEADERS_P4

#include "constants.p4"
#include "types.p4"

header ethernet_h {
    mac_address_t dst_addr;
    mac_address_t src_addr;
    bit<16> ether_type;
}

// IEEE 802.3 MAC control: opcode 0x0101 is priority-based flow control (802.1Qbb).
header mac_control_h {
    bit<16> opcode;
}

// Fields after opcode 0x0101: the enabled classes, then a pause for each class. Padded to the minimum Ethernet frame.
header pfc_h {
    bit<8> reserved;
    bit<8> enabled_classes;
    bit<16> quanta_0;
    bit<16> quanta_1;
    bit<16> quanta_2;
    bit<16> quanta_3;
    bit<16> quanta_4;
    bit<16> quanta_5;
    bit<16> quanta_6;
    bit<16> quanta_7;
    bit<208> padding;
}

// Fields after opcode 0xFFFE: the organization that defines the frame, and the pause of one queue. Padded like 802.1Qbb.
header queue_pause_h {
    bit<24> organization;
    bit<8> traffic_class;
    bit<8> queue;
    bit<16> quanta;
    bit<296> padding;
}

header ipv4_h {
    bit<4> version;
    bit<4> ihl;
    dscp_t dscp;
    bit<2> ecn;
    bit<16> total_len;
    bit<16> identification;
    bit<3> flags;
    bit<13> fragment_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> header_checksum;
    ipv4_address_t src_addr;
    ipv4_address_t dst_addr;
}

header udp_h {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;
}

header tcp_h {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> sequence_high;
    bit<16> sequence_low;
    bit<32> acknowledgment;
    bit<4> data_offset;
    bit<4> reserved;
    bit<8> flags;
    bit<16> window;
    bit<16> checksum;
    bit<16> urgent;
}

header icmp_h {
    bit<8> type;
    bit<8> code;
    bit<16> checksum;
}

// In-band telemetry between UDP and BTH: each switch on the way pushes a record at dequeue, or fills a slot of the compact
// layout.
header int_h {
    bit<8> hops;
    bit<8> flags;
    bit<16> path;           // a hash of the switches and output ports so far, or 0
}

header int_record_h {
    bit<32> rate_kbps;      // of the port, wall
    bit<32> time_us;        // of the dequeue, wall
    bit<32> tx_bytes;       // sent by the port before this packet
    bit<32> queue_bytes;    // in all queues of the port after this packet left them
}

// The slots of the compact layout, the newest first. From its highest bit, a slot has a code of the port's rate (4 bits), the
// time of the dequeue (24), the bytes sent before in units of 128 B (20) and the queue in units of 80 B (16).
header int_slots_h {
    bit<64> slot_0;
    bit<64> slot_1;
    bit<64> slot_2;
    bit<64> slot_3;
    bit<64> slot_4;
}

// RoCEv2 base transport header.
header bth_h {
    bit<8> opcode;
    bit<1> solicited_event;
    bit<1> migration_request;
    bit<2> pad_count;
    bit<4> transport_version;
    bit<16> partition_key;
    bit<1> fecn;
    bit<1> becn;
    bit<6> reserved6;
    bit<24> destination_qp;
    bit<1> ack_request;
    bit<7> reserved7;
    bit<24> psn;
}

// Back-To-Sender: the pause and the flow to be paused. The congested destination is the IPv4 source address, the flow's
// source port is in the UDP header. A BTS of the SFC prototype has zeros from `reserved2` on.
header bts_h {
    bit<8> version;
    bit<2> reserved;
    dscp_t flow_dscp;
    bit<16> pause;            // in microseconds of the model
    bit<3> reserved2;
    bit<1> cacheable;
    bts_cause_t cause;
    bit<8> flow_protocol;
    bit<16> flow_dst_port;
    bit<24> destination_qp;
    bit<8> traffic_class;
    bytes_t queue_depth_bytes;
    bit<16> switch_id;
}

// The end of a TCP signal, behind a TCP header that has the flow's ports, the pause in its sequence number, and the queue's depth
// in its acknowledgment number. A TCP signal of the SFC prototype has neither that depth nor this header.
header tcp_bts_h {
    bit<2> reserved;
    dscp_t flow_dscp;
    bit<3> reserved2;
    bit<1> cacheable;
    bts_cause_t cause;
    bit<8> traffic_class;
    bit<8> reserved3;
    bit<16> switch_id;
}

struct headers_t {
    ethernet_h ethernet;
    mac_control_h mac_control;
    pfc_h pfc;
    queue_pause_h queue_pause;
    ipv4_h ipv4;
    udp_h udp;
    tcp_h tcp;
    tcp_bts_h tcp_bts;
    icmp_h icmp;
    int_h telemetry;
    int_slots_h slots;
    int_record_h[INT_HOPS] hop;
    bth_h bth;
    bts_h bts;
}

#endif
