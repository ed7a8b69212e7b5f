// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Packet spraying (NDP, section 3.1.1): every RoCE packet takes a random member of its ECMP group. This suits only transports
// that do not treat reordering as loss.
#ifndef SFC_SPRAYING_P4
#define SFC_SPRAYING_P4

control Spraying(in headers_t hdr, inout bit<32> flow_hash) {
    bit<1> is_spraying = 0;

    action spray() {
        is_spraying = 1;
    }

    action keep_paths() {
        is_spraying = 0;
    }

    table spraying {
        actions = { @defaultonly spray; @defaultonly keep_paths; }
        default_action = keep_paths();
    }

    apply {
        spraying.apply();
        if (is_spraying == 1 && hdr.bth.isValid()) {
            random(flow_hash, 32w0, 32w0xffffffff);
        }
    }
}

#endif
