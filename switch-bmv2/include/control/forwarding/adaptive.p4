// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Adaptive routing: a packet, or a new flowlet, takes the member of its group whose port holds the fewest bytes. A random number
// decides between equal ports.
#ifndef SFC_ADAPTIVE_P4
#define SFC_ADAPTIVE_P4

// Calls `consider`, which goes on to the next member, for every member of a group. BMv2 has no loops.
#define CONSIDER(member) if (meta.group_size > member) { consider(); }
#define CONSIDER_8(member) \
    if (meta.group_size > member) { \
        CONSIDER(member) CONSIDER(member + 1) CONSIDER(member + 2) CONSIDER(member + 3) \
        CONSIDER(member + 4) CONSIDER(member + 5) CONSIDER(member + 6) CONSIDER(member + 7) \
    }

// The next number of a linear congruential generator, whose upper bits decide between equal members.
#define NEXT(number) (number) * 1664525 + 1013904223

control LeastQueued(in metadata_t meta, out bit<16> member) {
    bit<32> place = 0;
    bit<32> chance = 0;
    bit<32> port = 0;
    bytes_t depth_bytes = 0;
    bit<16> candidate = 0;
    bit<64> least = 0;

    action consider() {
        member_ports.read(port, place);
        port_bytes.read(depth_bytes, port);
        chance = NEXT(chance);
        least = least - (least |-| (depth_bytes ++ (bit<16>) (chance >> 16) ++ candidate));  // the smaller one
        candidate = candidate + 1;
        place = place + 1;
    }

    apply {
        place = first_member(meta);
        random(chance, 32w0, 32w0xffffffff);
        candidate = 0;
        least = 0xffffffffffffffff;
        CONSIDER_8(0) CONSIDER_8(8) CONSIDER_8(16) CONSIDER_8(24)
        member = (bit<16>) least;
    }
}

#endif
