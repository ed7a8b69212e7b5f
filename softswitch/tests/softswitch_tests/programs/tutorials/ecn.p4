// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
// Routing, and ECN marks on packets that waited behind many packets, if their transport is ECN-capable.
#include "frame.p4"

const bit<19> MANY_PACKETS = 10;
const bit<2> ECT_1 = 1;
const bit<2> ECT_0 = 2;
const bit<2> CE = 3;

control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        if (std.enq_qdepth >= MANY_PACKETS && (hdr.ipv4.ecn == ECT_0 || hdr.ipv4.ecn == ECT_1)) {
            hdr.ipv4.ecn = CE;
        }
    }
}

V1Switch(Parse(), Verify(), Route(), Out(), Update(), Emit()) main;
