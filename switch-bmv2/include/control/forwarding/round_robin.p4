// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Round-robin packet spraying: successive packets of an ECMP group take successive members. Switches begin at different members,
// because otherwise the first packets of all switches would take the same paths.
#ifndef SFC_ROUND_ROBIN_P4
#define SFC_ROUND_ROBIN_P4

// The number of packets of each group, modulo the size of the group. Index: group.
register<bit<16>>(GROUPS) round_robin_next;

control RoundRobin(in metadata_t meta, out bit<16> member) {
    bit<16> next = 0;

    action take_turn() {
        round_robin_next.read(next, (bit<32>) meta.next_hop_group);
        next = next >= meta.group_size ? 0 : next;  // the group has become smaller
        member = next + member_of((bit<32>) meta.next_hop_group, meta);
        member = member >= meta.group_size ? member - meta.group_size : member;
        round_robin_next.write((bit<32>) meta.next_hop_group, next + 1);
    }

    apply {
        take_turn();
    }
}

#endif
