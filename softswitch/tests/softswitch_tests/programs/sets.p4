// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
// Parser value sets: of one field, of a struct whose fields are not whole bytes, and wider than 64 and 128 bits.
#include <core.p4>
#include <v1model.p4>

header key_h { bit<8> kind; bit<8> state; bit<16> value; bit<3> low; bit<13> high; bit<100> wide; bit<36> tail; }
struct headers_t { key_h h; }
struct metadata_t { }
struct pair_t { bit<3> low; bit<13> high; bit<5> part; }
struct wide_t { bit<100> wide; bit<36> tail; }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    value_set<bit<16>>(4) values;
    value_set<pair_t>(4) pairs;
    value_set<wide_t>(4) wides;
    value_set<bit<100>>(4) singles;
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.kind) {
            1: by_value;
            2: by_pair;
            3: by_wide;
            4: by_single;
            5: ahead;
            default: accept;
        }
    }
    state by_value {
        transition select(hdr.h.value) { 7: found_constant; values: found; 0x1000 &&& 0xf000: found_constant; }
    }
    state by_pair { transition select(hdr.h.low, hdr.h.high, hdr.h.value[4:0]) { pairs: found; default: accept; } }
    state by_wide { transition select(hdr.h.wide, hdr.h.tail) { wides: found; default: accept; } }
    state by_single { transition select(hdr.h.wide) { singles: found; default: accept; } }
    state ahead { transition select(packet.lookahead<bit<16>>()) { values: found; default: accept; } }
    state found { hdr.h.state = 1; transition accept; }
    state found_constant { hdr.h.state = 2; transition accept; }
}
control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { std.egress_spec = 1; }
}
control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply { } }
control Verify(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Update(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Emit(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), Verify(), In(), Out(), Update(), Emit()) main;
