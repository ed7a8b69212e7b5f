// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
// Every hash, over fields that do not end at byte boundaries, with base and maximum; a checksum over the payload.
#include <core.p4>
#include <v1model.p4>

header request_h { bit<8> which; bit<4> a; bit<12> b; bit<32> c; bit<3> d; bit<5> e; bit<64> result; bit<16> checksum; }
header maybe_h { bit<16> value; }
struct headers_t { request_h h; maybe_h maybe; }
struct metadata_t { }
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.which) { 20: maybe; 21: maybe; default: accept; }
    }
    state maybe { packet.extract(hdr.maybe); transition accept; }
}
#define INPUT { hdr.h.a, hdr.h.b, hdr.h.c, hdr.h.d }
control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum_with_payload(hdr.h.which == 21, { hdr.h.c, hdr.maybe.value }, hdr.h.checksum, HashAlgorithm.csum16);
    }
}
control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = std.checksum_error == 1 ? 9w2 : 9w1;
        if (hdr.h.which == 0) { hash(hdr.h.result, HashAlgorithm.crc16, 64w0, INPUT, 64w0x10000); }
        else if (hdr.h.which == 1) { hash(hdr.h.result, HashAlgorithm.crc32, 64w0, INPUT, 64w0x100000000); }
        else if (hdr.h.which == 2) { hash(hdr.h.result, HashAlgorithm.csum16, 64w0, INPUT, 64w0x10000); }
        else if (hdr.h.which == 3) { hash(hdr.h.result, HashAlgorithm.xor16, 64w0, INPUT, 64w0x10000); }
        else if (hdr.h.which == 4) { hash(hdr.h.result, HashAlgorithm.identity, 64w0, INPUT, 64w0xffffffffffffffff); }
        else if (hdr.h.which == 5) { hash(hdr.h.result, HashAlgorithm.crc16_custom, 64w0, INPUT, 64w0x10000); }
        else if (hdr.h.which == 6) { hash(hdr.h.result, HashAlgorithm.crc32_custom, 64w0, INPUT, 64w0x100000000); }
        else if (hdr.h.which == 7) { hash(hdr.h.result, HashAlgorithm.crc32, 64w1000, INPUT, 64w7); }
        else if (hdr.h.which == 8) { hash(hdr.h.result, HashAlgorithm.crc32, 64w5, INPUT, 64w0); }
        else if (hdr.h.which == 9) { hash(hdr.h.result, HashAlgorithm.crc32, 64w5, INPUT, (bit<64>)hdr.h.e); }
    }
}
control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply { } }
control Update(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum_with_payload(hdr.h.which == 20 || hdr.h.which == 22, { hdr.h.c, hdr.maybe.value }, hdr.h.checksum, HashAlgorithm.csum16);
    }
}
control Emit(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), Verify(), In(), Out(), Update(), Emit()) main;
