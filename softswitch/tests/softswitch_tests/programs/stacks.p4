// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
// Headers `last` and `next` of a stack as operands, also of headers with fields of these names; any port as destination;
// frames that lose all their bytes; messages in the log.
#include <core.p4>
#include <v1model.p4>

header item_h { bit<8> more; bit<8> last; bit<8> next; }
header plain_h { bit<8> more; bit<8> value; }
header port_h { bit<7> which; bit<9> port; }
struct headers_t { port_h to; item_h[3] items; plain_h[2] plains; item_h item; plain_h plain; }
struct metadata_t { item_h kept; plain_h kept_plain; }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.to);
        transition select(hdr.to.which) { 1: items; 2: plains; default: accept; }
    }
    state items {
        packet.extract(hdr.items.next);
        meta.kept = hdr.items.last;
        transition select(hdr.items.last.more) { 0: done; default: items; }
    }
    state done { hdr.item = hdr.items.last; transition accept; }
    state plains {
        packet.extract(hdr.plains.next);
        meta.kept_plain = hdr.plains.last;
        transition select(hdr.plains.last.more) { 0: accept; default: plains; }
    }
}
control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = hdr.to.port;
        if (hdr.to.which == 1) { hdr.item.last = hdr.item.last + meta.kept.last; }
        if (hdr.to.which == 2) { hdr.plain = meta.kept_plain; }
        if (hdr.to.which == 3) { hdr.to.setInvalid(); }
        if (hdr.to.which == 4) { truncate(0); }
        if (hdr.to.which == 5) { clone(CloneType.I2E, 1); }
        if (hdr.to.which == 6) { log_msg("to port {} \\{which={}\\}, 100 % of it", {hdr.to.port, hdr.to.which}); }
        if (std.parser_error != error.NoError) { std.egress_spec = 9; }
    }
}
control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply { } }
control Verify(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Update(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Emit(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), Verify(), In(), Out(), Update(), Emit()) main;
