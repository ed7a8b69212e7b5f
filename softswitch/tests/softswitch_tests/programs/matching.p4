// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
// All match kinds, keys of odd and large widths, const entries with priorities, switch on the action run.
#include <core.p4>
#include <v1model.p4>

header request_h { bit<8> which; bit<9> a; bit<7> b; bit<48> c; bit<128> d; bit<200> e; bit<16> result; }
header extra_h { bit<8> value; }
struct headers_t { request_h h; extra_h extra; }
struct metadata_t { }
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.b) { 1: extra; default: accept; }
    }
    state extra { packet.extract(hdr.extra); transition accept; }
}
control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action miss() { hdr.h.result = 0xffff; }
    action set(bit<16> result) { hdr.h.result = result; }
    action set_wide(bit<128> d, bit<200> e) { hdr.h.d = d; hdr.h.e = e; }
    table exact_keys {
        key = { hdr.h.a : exact; hdr.h.b : exact; hdr.h.c : exact; hdr.h.d : exact; hdr.h.e : exact; }
        actions = { set; miss; set_wide; }
        default_action = miss();
        size = 1000;
    }
    table longest {
        key = { hdr.h.b : exact; hdr.h.d : lpm; }
        actions = { set; miss; }
        default_action = miss();
        size = 64;
    }
    table masked {
        key = { hdr.h.a : ternary; hdr.h.d : ternary; hdr.extra.value : ternary; }
        actions = { set; miss; }
        default_action = miss();
    }
    table ranged {
        key = { hdr.h.a : range; hdr.h.b : exact; hdr.h.c : optional; }
        actions = { set; miss; }
        default_action = miss();
    }
    table fixed_entries {
        key = { hdr.h.a : ternary; hdr.extra.isValid() : exact; }
        actions = { set; miss; }
        const entries = {
            (9w1, false) : set(1);
            (9w0 &&& 9w1, true) : set(2);
            (_, true) : set(3);
            (_, false) : set(4);
        }
    }
    apply {
        std.egress_spec = 1;
        if (hdr.h.which == 0) { exact_keys.apply(); }
        else if (hdr.h.which == 1) { longest.apply(); }
        else if (hdr.h.which == 2) { masked.apply(); }
        else if (hdr.h.which == 3) { ranged.apply(); }
        else {
            switch (fixed_entries.apply().action_run) {
                set: { hdr.h.b = 0x55; }
                default: { hdr.h.b = 0x2a; }
            }
            if (hdr.h.a == 9w0x1ff) { exit; }
            hdr.h.c = 0xc;
        }
    }
}
control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply { } }

control Verify(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Update(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Emit(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), Verify(), In(), Out(), Update(), Emit()) main;
