// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
// Registers with different widths, meters, a digest, random numbers and an action selector.
#include <core.p4>
#include <v1model.p4>

header request_h { bit<8> which; bit<32> index; bit<48> a; bit<200> wide; bit<8> color; }
struct headers_t { request_h h; }
struct metadata_t { bit<2> direct_color; }
struct report_t { bit<9> port; bit<48> a; }
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.h); transition accept; }
}
control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<bit<48>>(8) times;
    register<bit<200>>(4) wides;
    register<bit<1>>(2) flags;
    meter(4, MeterType.packets) by_index;
    direct_meter<bit<2>>(MeterType.bytes) by_entry;
    action_selector(HashAlgorithm.crc16, 32w16, 32w14) members;
    action pick(bit<9> port) { std.egress_spec = port; }
    action watch() { by_entry.read(meta.direct_color); }
    table spread {
        key = { hdr.h.which : exact; hdr.h.a : selector; }
        actions = { pick; NoAction; }
        implementation = members;
        size = 16;
    }
    table watched {
        key = { hdr.h.which : exact; }
        actions = { watch; NoAction; }
        default_action = NoAction();
        meters = by_entry;
    }
    apply {
        std.egress_spec = 1;
        if (hdr.h.which == 0) {
            bit<48> old;
            times.read(old, hdr.h.index);
            times.write(hdr.h.index, old + hdr.h.a);
            hdr.h.a = old;
            bit<200> old_wide;
            wides.read(old_wide, hdr.h.index);
            wides.write(hdr.h.index, hdr.h.wide);
            hdr.h.wide = old_wide;
            flags.write(1, 1);
        } else if (hdr.h.which == 1) {
            by_index.execute_meter(hdr.h.index, hdr.h.color);
        } else if (hdr.h.which == 2) {
            watched.apply();
            hdr.h.color = (bit<8>)meta.direct_color;
        } else if (hdr.h.which == 3) {
            digest<report_t>(1, { std.ingress_port, hdr.h.a });
        } else if (hdr.h.which == 4) {
            random(hdr.h.a, 100, 200);
        } else {
            spread.apply();
        }
    }
}
control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply { } }

control Verify(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Update(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Emit(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), Verify(), In(), Out(), Update(), Emit()) main;
