// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Flowlets (LetFlow, NSDI 2017, section 3.1): packets of a flow that follow each other closely take the same path. After a gap
// the flow may change to another path, because its earlier packets have left the paths by then. Flows whose hashes select the
// same cell share a path, as in the paper.
#ifndef SFC_FLOWLETS_P4
#define SFC_FLOWLETS_P4

// The time of the last packet, and the member of the group plus 1; 0 before the first packet.
register<time_us_t>(FLOWLET_CELLS) flowlet_us;
register<bit<16>>(FLOWLET_CELLS) flowlet_member;

// Finds the flowlet of a packet: its member, and whether the packet begins a new flowlet. A new one keeps the old member if there
// was one.
control FlowletFind(in metadata_t meta, in bit<32> cells, in duration_us_t gap_us, out bit<32> cell, inout bit<16> member,
                    out bit<1> is_new, out bit<1> has_member) {
    time_us_t last_us = 0;
    bit<16> stored = 0;

    action find() {
        cell = ((meta.flow_hash & 0xffff) * cells) >> 16;
        flowlet_us.read(last_us, cell);
        flowlet_member.read(stored, cell);
        flowlet_us.write(cell, meta.now_us);
        has_member = stored != 0 && stored <= meta.group_size ? 1w1 : 1w0;  // the group may have become smaller
        member = has_member == 1 ? stored - 1 : member;
        is_new = has_member == 0 || meta.now_us |-| last_us >= (time_us_t) gap_us ? 1w1 : 1w0;
    }

    apply {
        find();
    }
}

// Draws a random member for a new flowlet (LetFlow).
control RandomMember(in metadata_t meta, out bit<16> member) {
    apply {
        random(member, 16w0, meta.group_size - 1);
    }
}

#endif
