// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
// Shared by the programs of this folder: headers, parser, deparser and routing by destination. Table and action names
// and the behaviour are the same as in the P4 tutorials' exercises, so the same entries work with both.
#include <core.p4>
#include <v1model.p4>

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<8> PROTOCOL_TCP = 6;
const bit<5> OPTION_HOPS = 31;

header ethernet_h { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_h {
    bit<4> version; bit<4> ihl; bit<6> dscp; bit<2> ecn; bit<16> len; bit<16> id; bit<3> flags; bit<13> offset;
    bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst;
}
// An IPv4 option; number 31 holds records of hops, the last hop first. A header of 15 words has room for 4.
header option_h { bit<3> kind; bit<5> number; bit<8> len; bit<16> count; }
header hop_h { bit<32> switch_id; bit<32> depth_packets; }
header ports_h { bit<16> src; bit<16> dst; }

struct headers_t { ethernet_h ethernet; ipv4_h ipv4; option_h option; hop_h[4] hops; ports_h ports; }
struct metadata_t { bit<16> hops_left; bit<14> way; }

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) { ETHERTYPE_IPV4: ipv4; default: accept; }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl) { 5: payload; default: option; }
    }
    state payload { transition select(hdr.ipv4.protocol) { PROTOCOL_TCP: ports; default: accept; } }
    state ports { packet.extract(hdr.ports); transition accept; }
    state option {
        packet.extract(hdr.option);
        meta.hops_left = hdr.option.count;
        transition select(hdr.option.number) { OPTION_HOPS: more_hops; default: accept; }
    }
    state more_hops { transition select(meta.hops_left) { 0: accept; default: hop; } }
    state hop {
        packet.extract(hdr.hops.next);
        meta.hops_left = meta.hops_left - 1;
        transition more_hops;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) { apply { } }

control Route(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action drop() { mark_to_drop(std); }
    action ipv4_forward(bit<48> dst, bit<9> port) {
        std.egress_spec = port;
        hdr.ethernet.src = hdr.ethernet.dst;
        hdr.ethernet.dst = dst;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }
    table ipv4_lpm {
        key = { hdr.ipv4.dst : lpm; }
        actions = { ipv4_forward; drop; }
        default_action = drop();
        size = 64;
    }
    apply {
        if (hdr.ipv4.isValid()) {
            ipv4_lpm.apply();
        } else {
            drop();
        }
    }
}

// The checksum covers the header without its options, which routing does not change.
control Update(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(), { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.len,
            hdr.ipv4.id, hdr.ipv4.flags, hdr.ipv4.offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control Emit(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.option);
        packet.emit(hdr.hops);
        packet.emit(hdr.ports);
    }
}
