// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Random packet spraying (NDP, section 3.1.1): a packet takes a random member of its ECMP group.
#ifndef SFC_SPRAY_P4
#define SFC_SPRAY_P4

control Spray(in metadata_t meta, out bit<16> member) {
    bit<32> number = 0;

    apply {
        random(number, 32w0, 32w0xffffffff);
        member = member_of(number, meta);
    }
}

#endif
