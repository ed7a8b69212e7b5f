// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
// Stacks with next, last, push and pop; a union; a varbit; lookahead, advance and verify.
#include <core.p4>
#include <v1model.p4>

error { BadKind }
header kind_h { bit<8> kind; bit<8> length; }
header label_h { bit<20> label; bit<3> tc; bit<1> bottom; bit<8> ttl; }
header short_h { bit<16> value; }
header long_h { bit<32> value; }
header options_h { bit<8> before; varbit<64> data; bit<8> after; }
header_union number_u { short_h s; long_h l; }
struct headers_t { kind_h kind; label_h[3] labels; number_u number; options_h options; }
struct metadata_t { bit<8> ahead; }
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.kind);
        transition select(hdr.kind.kind) {
            1: labels; 2: short; 3: long; 4: options; 5: skip; 6 &&& 0x0e: ahead; default: bad;
        }
    }
    state labels {
        packet.extract(hdr.labels.next);
        transition select(hdr.labels.last.bottom) { 0: labels; 1: accept; }
    }
    state short { packet.extract(hdr.number.s); transition accept; }
    state long { packet.extract(hdr.number.l); transition accept; }
    state options { packet.extract(hdr.options, (bit<32>)hdr.kind.length); transition accept; }
    state skip { packet.advance((bit<32>)hdr.kind.length); transition short; }
    state ahead { meta.ahead = packet.lookahead<bit<24>>()[7:0]; transition accept; }
    state bad { verify(false, error.BadKind); transition accept; }
}
control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        if (std.parser_error == error.PacketTooShort) { std.egress_spec = 101; }
        if (std.parser_error == error.StackOutOfBounds) { std.egress_spec = 102; }
        if (std.parser_error == error.HeaderTooShort) { std.egress_spec = 103; }
        if (std.parser_error == error.BadKind) { std.egress_spec = 104; }
        if (hdr.labels[0].isValid()) {
            if (hdr.kind.length == 1) {
                hdr.labels.push_front(1);
                hdr.labels[0].setValid();
                hdr.labels[0].label = 0xabcde;
            } else if (hdr.kind.length == 2) {
                hdr.labels.pop_front(1);
            } else if (hdr.kind.length == 3) {
                hdr.labels[1] = hdr.labels[0];
            }
        }
        if (hdr.number.s.isValid() && hdr.kind.length == 8) {
            bit<32> value = (bit<32>)hdr.number.s.value;
            hdr.number.l.setValid();
            hdr.number.l.value = value;
        }
        if (hdr.kind.kind == 6 || hdr.kind.kind == 7) { hdr.kind.length = meta.ahead; }
    }
}
control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { if (hdr.kind.kind == 2 && hdr.kind.length == 9) { hdr.kind.length = (bit<8>)std.packet_length; } }
}

control Verify(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Update(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Emit(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), Verify(), In(), Out(), Update(), Emit()) main;
