// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
// Every operator, on unsigned, signed and wide operands; the first byte selects the operator.
#include <core.p4>
#include <v1model.p4>

header request_h {
    bit<8> op; bit<8> shift;
    bit<32> a; bit<32> b; bit<32> r;
    int<32> sa; int<32> sb; int<32> sr;
    bit<64> la; bit<64> lb; bit<64> lr;
    bit<128> wa; bit<128> wb; bit<128> wr;
    bit<200> xa; bit<200> xb; bit<200> xr;
    bit<3> small; bit<13> odd;
}
struct headers_t { request_h h; }
struct metadata_t { }
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.h); transition accept; }
}
control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        if (hdr.h.op == 0) {
            hdr.h.r = hdr.h.a + hdr.h.b; hdr.h.sr = hdr.h.sa + hdr.h.sb;
            hdr.h.lr = hdr.h.la + hdr.h.lb; hdr.h.wr = hdr.h.wa + hdr.h.wb; hdr.h.xr = hdr.h.xa + hdr.h.xb;
        } else if (hdr.h.op == 1) {
            hdr.h.r = hdr.h.a - hdr.h.b; hdr.h.sr = hdr.h.sa - hdr.h.sb;
            hdr.h.lr = hdr.h.la - hdr.h.lb; hdr.h.wr = hdr.h.wa - hdr.h.wb; hdr.h.xr = hdr.h.xa - hdr.h.xb;
        } else if (hdr.h.op == 2) {
            hdr.h.r = hdr.h.a * hdr.h.b; hdr.h.sr = hdr.h.sa * hdr.h.sb;
            hdr.h.lr = hdr.h.la * hdr.h.lb; hdr.h.wr = hdr.h.wa * hdr.h.wb; hdr.h.xr = hdr.h.xa * hdr.h.xb;
        } else if (hdr.h.op == 3) {
            hdr.h.r = hdr.h.a |+| hdr.h.b; hdr.h.sr = hdr.h.sa |+| hdr.h.sb;
            hdr.h.lr = hdr.h.la |+| hdr.h.lb; hdr.h.wr = hdr.h.wa |+| hdr.h.wb; hdr.h.xr = hdr.h.xa |+| hdr.h.xb;
        } else if (hdr.h.op == 4) {
            hdr.h.r = hdr.h.a |-| hdr.h.b; hdr.h.sr = hdr.h.sa |-| hdr.h.sb;
            hdr.h.lr = hdr.h.la |-| hdr.h.lb; hdr.h.wr = hdr.h.wa |-| hdr.h.wb; hdr.h.xr = hdr.h.xa |-| hdr.h.xb;
        } else if (hdr.h.op == 5) {
            hdr.h.r = hdr.h.a << hdr.h.shift; hdr.h.sr = hdr.h.sa << hdr.h.shift;
            hdr.h.lr = hdr.h.la << hdr.h.shift; hdr.h.wr = hdr.h.wa << hdr.h.shift; hdr.h.xr = hdr.h.xa << hdr.h.shift;
        } else if (hdr.h.op == 6) {
            hdr.h.r = hdr.h.a >> hdr.h.shift; hdr.h.sr = hdr.h.sa >> hdr.h.shift;
            hdr.h.lr = hdr.h.la >> hdr.h.shift; hdr.h.wr = hdr.h.wa >> hdr.h.shift; hdr.h.xr = hdr.h.xa >> hdr.h.shift;
        } else if (hdr.h.op == 7) {
            hdr.h.r = ~(hdr.h.a ^ (hdr.h.b | 0x0ff0)); hdr.h.sr = ~(hdr.h.sa ^ hdr.h.sb);
            hdr.h.lr = ~(hdr.h.la ^ hdr.h.lb); hdr.h.wr = ~(hdr.h.wa & hdr.h.wb); hdr.h.xr = ~(hdr.h.xa | hdr.h.xb);
        } else if (hdr.h.op == 8) {
            hdr.h.r = (bit<32>)(bit<1>)(hdr.h.a < hdr.h.b); hdr.h.sr = hdr.h.sa < hdr.h.sb ? (int<32>)-1 : 1;
            hdr.h.lr = (bit<64>)(bit<1>)(hdr.h.la >= hdr.h.lb); hdr.h.wr = (bit<128>)(bit<1>)(hdr.h.wa > hdr.h.wb);
            hdr.h.xr = (bit<200>)(bit<1>)(hdr.h.xa <= hdr.h.xb);
        } else if (hdr.h.op == 9) {
            hdr.h.r = hdr.h.xa[63:32]; hdr.h.sr = (int<32>)(int<8>)hdr.h.a[7:0]; hdr.h.lr = hdr.h.a ++ hdr.h.b;
            hdr.h.wr = hdr.h.la ++ hdr.h.lb; hdr.h.xr = (bit<200>)hdr.h.wa;
        } else if (hdr.h.op == 10) {
            hdr.h.r = -hdr.h.a; hdr.h.sr = -hdr.h.sa; hdr.h.lr = (bit<64>)hdr.h.small * (bit<64>)hdr.h.odd;
            hdr.h.wr[71:8] = hdr.h.la; hdr.h.xr = hdr.h.xa;
        }
    }
}
control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply { } }

control Verify(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Update(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Emit(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), Verify(), In(), Out(), Update(), Emit()) main;
