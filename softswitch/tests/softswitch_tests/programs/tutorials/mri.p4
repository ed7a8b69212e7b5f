// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
// Routing, and hop records: a packet with the option records each switch and the number of packets left in the queue.
#include "frame.p4"

control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action add_swtrace(bit<32> switch_id) {
        hdr.option.count = hdr.option.count + 1;
        hdr.option.len = hdr.option.len + 8;
        hdr.hops.push_front(1);
        hdr.hops[0].setValid();
        hdr.hops[0].switch_id = switch_id;
        hdr.hops[0].depth_packets = (bit<32>)std.deq_qdepth;
        hdr.ipv4.ihl = hdr.ipv4.ihl + 2;
        hdr.ipv4.len = hdr.ipv4.len + 8;
    }
    table swtrace {
        actions = { add_swtrace; NoAction; }
        default_action = NoAction();
    }
    apply {
        if (hdr.option.isValid() && hdr.option.number == OPTION_HOPS) {
            swtrace.apply();
        }
    }
}

V1Switch(Parse(), Verify(), Route(), Out(), Update(), Emit()) main;
