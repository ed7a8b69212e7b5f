// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
// Assertions, and a write to packet_length.
#include <core.p4>
#include <v1model.p4>

header request_h { bit<8> which; bit<8> spare; bit<16> ingress_length; bit<16> egress_length; }
header extra_h { bit<32> zero; }
struct headers_t { request_h h; extra_h extra; }
struct metadata_t { }
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.h); transition accept; }
}
control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        assert(hdr.h.which != 9);
        assume(hdr.h.which != 10);
        if (hdr.h.which == 1) { std.packet_length = 1000; }
        if (hdr.h.which >= 1) { hdr.extra.setValid(); hdr.extra.zero = 0; }
        hdr.h.ingress_length = (bit<16>)std.packet_length;
    }
}
control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { hdr.h.egress_length = (bit<16>)std.packet_length; }
}

control Verify(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Update(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Emit(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), Verify(), In(), Out(), Update(), Emit()) main;
