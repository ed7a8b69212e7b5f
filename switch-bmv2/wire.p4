// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Propagation delay of links between BMv2 switches, which cannot delay frames: connects port 2k to port 2k + 1 and changes
// no frame. softswitch runs this program between the ends of the links, with the delay set on its ports (docs/bmv2.md).
//
// BMv2 sends a BTS without the time that building it takes. Here a BTS of the switch at this end waits for that time, as a
// copy in a mirroring session with a delay.
#include <core.p4>
#include <v1model.p4>

#include "include/constants.p4"
#include "include/headers.p4"

struct wire_headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    udp_h udp;
    tcp_h tcp;
    bts_h bts;
    tcp_bts_h tcp_bts;
}

struct wire_metadata_t {
    bit<1> is_bts;
    bit<16> switch_id;
}

parser WireParser(packet_in packet, out wire_headers_t hdr, inout wire_metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (5, 0, PROTOCOL_UDP): parse_udp;
            (5, 0, PROTOCOL_TCP): parse_tcp;
            default: accept;
        }
    }

    state parse_tcp {
        packet.extract(hdr.tcp);
        transition select(hdr.tcp.reserved, hdr.tcp.checksum, hdr.tcp.sequence_high, hdr.ipv4.total_len, hdr.tcp.flags,
                          hdr.tcp.data_offset) {
            (TCP_SIGNAL, 0, 0, BTS_IPV4_BYTES, 0, TCP_HEADER_WORDS): parse_tcp_bts;
            default: accept;
        }
    }

    state parse_tcp_bts {
        packet.extract(hdr.tcp_bts);
        meta.is_bts = 1;
        meta.switch_id = hdr.tcp_bts.switch_id;
        transition accept;
    }

    state parse_udp {
        packet.extract(hdr.udp);
        transition select(hdr.udp.dst_port) {
            BTS_UDP_PORT: parse_bts;
            default: accept;
        }
    }

    state parse_bts {
        packet.extract(hdr.bts);
        meta.is_bts = 1;
        meta.switch_id = hdr.bts.switch_id;
        transition accept;
    }
}

control WireVerifyChecksum(inout wire_headers_t hdr, inout wire_metadata_t meta) {
    apply { }
}

control WireIngress(inout wire_headers_t hdr, inout wire_metadata_t meta, inout standard_metadata_t std) {
    action wait(bit<32> session) {
        clone(CloneType.I2E, session);
        mark_to_drop(std);
    }

    // BTS that were built by the switch at the port where they arrive.
    table built_here {
        key = {
            std.ingress_port: exact;
            meta.switch_id: exact @name("switch_id");
        }
        actions = { wait; @defaultonly NoAction; }
        default_action = NoAction();
        size = 1024;
    }

    apply {
        std.egress_spec = std.ingress_port ^ 1;
        if (meta.is_bts == 1) {
            built_here.apply();
        }
    }
}

control WireEgress(inout wire_headers_t hdr, inout wire_metadata_t meta, inout standard_metadata_t std) {
    apply { }
}

control WireComputeChecksum(inout wire_headers_t hdr, inout wire_metadata_t meta) {
    apply { }
}

control WireDeparser(packet_out packet, in wire_headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(WireParser(), WireVerifyChecksum(), WireIngress(), WireEgress(), WireComputeChecksum(), WireDeparser()) main;
