// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
// One address stands for several hosts: a hash of the flow picks the path and the new destination address.
#include "frame.p4"

control Spread(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action drop() { mark_to_drop(std); }
    action set_ecmp_select(bit<16> first, bit<32> count) {
        hash(meta.way, HashAlgorithm.crc16, first,
            { hdr.ipv4.src, hdr.ipv4.dst, hdr.ipv4.protocol, hdr.ports.src, hdr.ports.dst }, count);
    }
    action set_nhop(bit<48> mac, bit<32> address, bit<9> port) {
        std.egress_spec = port;
        hdr.ethernet.dst = mac;
        hdr.ipv4.dst = address;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }
    table ecmp_group {
        key = { hdr.ipv4.dst : lpm; }
        actions = { set_ecmp_select; drop; }
        default_action = drop();
        size = 64;
    }
    table ecmp_nhop {
        key = { meta.way : exact; }
        actions = { set_nhop; drop; }
        default_action = drop();
        size = 16;
    }
    apply {
        if (!hdr.ipv4.isValid() || hdr.ipv4.ttl == 0) {
            drop();
        } else if (ecmp_group.apply().hit) {
            ecmp_nhop.apply();
        }
    }
}

control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action rewrite_mac(bit<48> mac) { hdr.ethernet.src = mac; }
    table send_frame {
        key = { std.egress_port : exact; }
        actions = { rewrite_mac; NoAction; }
        default_action = NoAction();
        size = 16;
    }
    apply { send_frame.apply(); }
}

V1Switch(Parse(), Verify(), Spread(), Out(), Update(), Emit()) main;
