// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// DRILL (SIGCOMM 2017, section 3.2): each packet takes the shortest of `samples` random ports of its group (d, 1 or 2) and of the
// best port of the group's last packet (m, 0 or 1). A port is as long as the bytes in its queues. Equal ports leave the
// remembered one in place, as in the public simulator of ConWeave.
#ifndef SFC_DRILL_P4
#define SFC_DRILL_P4

// The best member of each group plus 1; 0 before the first packet. Index: group.
register<bit<16>>(GROUPS) drill_best;

control Drill(in metadata_t meta, in bit<8> samples, in bit<8> memory, out bit<16> member) {
    bit<16> stored = 0;
    bit<16> first = 0;
    bit<16> candidate = 0;
    bit<32> port = 0;
    bytes_t depth_bytes = 0;
    bytes_t least_bytes = 0;

    action sample_first() {
        random(first, 16w0, meta.group_size - 1);
        candidate = first;
    }

    // The second sample differs from the first one.
    action sample_second() {
        random(candidate, 16w0, meta.group_size - 2);
        candidate = candidate >= first ? candidate + 1 : candidate;
    }

    action consider() {
        member_ports.read(port, first_member(meta) + (bit<32>) candidate);
        port_bytes.read(depth_bytes, port);
        member = depth_bytes < least_bytes ? candidate : member;
        least_bytes = depth_bytes < least_bytes ? depth_bytes : least_bytes;
    }

    apply {
        member = 0;
        least_bytes = 0xffffffff;
        drill_best.read(stored, (bit<32>) meta.next_hop_group);
        if (memory == 1 && stored != 0 && stored <= meta.group_size) {
            candidate = stored - 1;
            consider();
        }
        sample_first();
        consider();
        if (samples == 2) {
            sample_second();
            consider();
        }
        drill_best.write((bit<32>) meta.next_hop_group, member + 1);
    }
}

#endif
