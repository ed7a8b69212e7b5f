// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
// Plain IPv4 forwarding: LPM, exact, direct and indexed counters, checksum verified and updated.
#include <core.p4>
#include <v1model.p4>

header ethernet_h { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_h {
    bit<4> version; bit<4> ihl; bit<8> tos; bit<16> len; bit<16> id; bit<3> flags; bit<13> offset;
    bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst;
}
struct headers_t { ethernet_h ethernet; ipv4_h ipv4; }
struct metadata_t { bit<32> next_hop; }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) { 0x0800: ipv4; default: accept; }
    }
    state ipv4 { packet.extract(hdr.ipv4); transition accept; }
}
control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(), { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.len, hdr.ipv4.id,
            hdr.ipv4.flags, hdr.ipv4.offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}
control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    counter(4, CounterType.packets_and_bytes) by_port;
    direct_counter(CounterType.packets_and_bytes) by_route;
    action drop() { mark_to_drop(std); }
    action route(bit<9> port, bit<32> next_hop) {
        std.egress_spec = port;
        meta.next_hop = next_hop;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        by_route.count();
    }
    action rewrite(bit<48> dst) { hdr.ethernet.dst = dst; }
    table routes {
        key = { hdr.ipv4.dst : lpm; }
        actions = { route; drop; }
        default_action = drop();
        size = 64;
        counters = by_route;
    }
    table neighbours {
        key = { meta.next_hop : exact; }
        actions = { rewrite; drop; }
        default_action = drop();
        size = 4;
    }
    apply {
        by_port.count((bit<32>)std.ingress_port);
        if (!hdr.ipv4.isValid() || std.checksum_error == 1 || hdr.ipv4.ttl <= 1) {
            drop();
        } else if (routes.apply().hit) {
            neighbours.apply();
        }
    }
}
control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { hdr.ethernet.src = (bit<48>)std.egress_port; }
}
control Update(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(), { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.len, hdr.ipv4.id,
            hdr.ipv4.flags, hdr.ipv4.offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}
control Emit(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.ethernet); packet.emit(hdr.ipv4); }
}
V1Switch(P(), Verify(), In(), Out(), Update(), Emit()) main;
