// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
// A program with every kind of object that P4Runtime controls. The field `which` chooses the table that forwards.
#include <core.p4>
#include <v1model.p4>

const bit<9> CPU_PORT = 9;

@controller_header("packet_in")
header packet_in_h { bit<9> ingress_port; bit<7> reason; }
@controller_header("packet_out")
header packet_out_h { bit<9> egress_port; bit<7> unused; }
header request_h { bit<8> which; bit<16> key; bit<48> address; bit<8> color; }
struct headers_t { packet_in_h to_cpu; packet_out_h from_cpu; request_h h; }
struct metadata_t { bit<2> color; @field_list(1) bit<7> reason; }
struct learnt_t { bit<48> address; bit<9> port; }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        transition select(std.ingress_port) {
            CPU_PORT: from_cpu;
            default: request;
        }
    }
    state from_cpu { packet.extract(hdr.from_cpu); transition request; }
    state request { packet.extract(hdr.h); transition accept; }
}

control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    direct_counter(CounterType.packets_and_bytes) routed;
    direct_meter<bit<2>>(MeterType.packets) policed;
    counter(16, CounterType.packets_and_bytes) by_port;
    meter(4, MeterType.bytes) by_key;
    register<bit<48>>(8) addresses;
    register<int<16>>(2) signs;
    action_selector(HashAlgorithm.crc16, 32w32, 32w14) members;
    action_profile(32w8) plain_members;

    action drop() { mark_to_drop(std); }
    action forward(bit<9> port) { std.egress_spec = port; }
    action rewrite(bit<9> port, bit<48> address) { std.egress_spec = port; hdr.h.address = address; }
    action flood(bit<16> group) { std.mcast_grp = group; }
    action punt(bit<7> reason) { std.egress_spec = CPU_PORT; meta.reason = reason; }
    action copy_to(bit<32> session) { clone_preserving_field_list(CloneType.I2E, session, 1); std.egress_spec = 1; }
    action route(bit<9> port) { std.egress_spec = port; routed.count(); }
    action police(bit<9> port) { std.egress_spec = port; policed.read(meta.color); }

    table exact_match {
        key = { hdr.h.key : exact; }
        actions = { forward; rewrite; flood; punt; copy_to; drop; @defaultonly NoAction; }
        default_action = NoAction();
        size = 4096;
        support_timeout = true;
    }
    table routes {
        key = { hdr.h.address : lpm; }
        actions = { route; @tableonly drop; }
        default_action = route(2);
        counters = routed;
    }
    table policies {
        key = { hdr.h.key : ternary; hdr.h.address : optional; std.ingress_port : range; }
        actions = { police; drop; }
        default_action = drop();
        meters = policed;
    }
    table fixed {
        key = { hdr.h.key : exact; }
        actions = { forward; drop; }
        const entries = { 1 : forward(3); 2 : drop(); }
        const default_action = drop();
    }
    table spread {
        key = { hdr.h.key : exact; hdr.h.address : selector; }
        actions = { forward; rewrite; }
        implementation = members;
        size = 64;
    }
    table plain {
        key = { hdr.h.key : exact; }
        actions = { forward; rewrite; }
        implementation = plain_members;
        size = 64;
    }
    apply {
        if (hdr.from_cpu.isValid()) {
            std.egress_spec = hdr.from_cpu.egress_port;
            hdr.from_cpu.setInvalid();
        } else if (hdr.h.which == 0) {
            exact_match.apply();
        } else if (hdr.h.which == 1) {
            routes.apply();
        } else if (hdr.h.which == 2) {
            policies.apply();
            hdr.h.color = (bit<8>)meta.color;
        } else if (hdr.h.which == 3) {
            fixed.apply();
        } else if (hdr.h.which == 4) {
            spread.apply();
        } else if (hdr.h.which == 5) {
            plain.apply();
        } else if (hdr.h.which == 6) {
            digest<learnt_t>(1, { hdr.h.address, std.ingress_port });
            std.egress_spec = 1;
        } else {
            by_port.count((bit<32>)std.ingress_port);
            by_key.execute_meter((bit<32>)hdr.h.key, hdr.h.color);
            addresses.write((bit<32>)hdr.h.key, hdr.h.address);
            signs.write(0, -2);
            std.egress_spec = 1;
        }
    }
}

control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        if (std.egress_port == CPU_PORT) {
            hdr.to_cpu.setValid();
            hdr.to_cpu.ingress_port = std.ingress_port;
            hdr.to_cpu.reason = meta.reason;
        } else if (std.egress_rid != 0) {
            hdr.h.color = (bit<8>)std.egress_rid;
        }
    }
}
control Verify(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Update(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Emit(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.to_cpu); packet.emit(hdr.h); } }
V1Switch(P(), Verify(), In(), Out(), Update(), Emit()) main;
