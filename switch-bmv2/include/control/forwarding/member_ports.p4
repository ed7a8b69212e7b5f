// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// The egress ports of the members of ECMP groups, for controls that compare the ports of a group. A table can be applied once for
// each packet, so the control plane also writes the ports into a register. Index: group ++ member.
#ifndef SFC_MEMBER_PORTS_P4
#define SFC_MEMBER_PORTS_P4

register<bit<32>>(GROUP_MEMBERS) member_ports;

// Returns the member of a group for a hash. A CRC is linear: two flows that collide with one salt as a prefix collide with every
// salt. Multiplying by an odd number that is specific to the switch is not linear, so switches on a path choose independently
// of each other.
bit<16> member_of(in bit<32> flow_hash, in metadata_t meta) {
    bit<32> mixed = flow_hash * meta.ecmp_salt;
    return (bit<16>) (((mixed >> 16) * (bit<32>) meta.group_size) >> 16);
}

// Returns the index of the first member of a packet's group.
bit<32> first_member(in metadata_t meta) {
    return (bit<32>) meta.next_hop_group << MEMBER_BITS;
}

#endif
