// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
// All requests of a pass to the target (clone, resubmit, recirculate, truncate, multicast, drop), and their metadata.
#include <core.p4>
#include <v1model.p4>

header request_h { bit<8> which; bit<8> seen; bit<16> value; }
struct headers_t { request_h h; }
struct metadata_t {
    @field_list(1) bit<8> kept;
    @field_list(2) bit<200> kept_wide;
    bit<8> lost;
}
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.h); transition accept; }
}
control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        hdr.h.seen = meta.kept;
        meta.kept = 7;
        meta.lost = 8;
        meta.kept_wide = 200w5 << 190;
        if (hdr.h.which == 1) { clone_preserving_field_list(CloneType.I2E, 5, 1); }
        else if (hdr.h.which == 2 && hdr.h.seen == 0) { resubmit_preserving_field_list(1); }
        else if (hdr.h.which == 3) { std.mcast_grp = 3; mark_to_drop(std); }
        else if (hdr.h.which == 4) { std.mcast_grp = 3; }
        else if (hdr.h.which == 5) { truncate(3); }
        else if (hdr.h.which == 6) { hdr.h.setInvalid(); }
    }
}
control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        if (std.instance_type == 1) { hdr.h.value = meta.kept ++ meta.lost; }
        else if (std.instance_type == 2) { hdr.h.value = meta.kept_wide[199:184]; }
        else if (hdr.h.which == 7 && hdr.h.value == 0) { hdr.h.value = 1; recirculate_preserving_field_list(2); }
        else if (hdr.h.which == 8) { clone_preserving_field_list(CloneType.E2E, 6, 2); mark_to_drop(std); }
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Update(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Emit(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), Verify(), In(), Out(), Update(), Emit()) main;
