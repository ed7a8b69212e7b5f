// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Propagation delay for links whose ends cannot delay: joins port 2k to port 2k + 1 and touches nothing. softswitch runs
// it between the two ends of links of BMv2 switches, with the delay on its ports (docs/bmv2.md).
#include <core.p4>
#include <v1model.p4>

struct headers_t { }
struct metadata_t { }

parser WireParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        transition accept;
    }
}

control WireVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control WireIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = std.ingress_port ^ 1;
    }
}

control WireEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
}

control WireComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control WireDeparser(packet_out packet, in headers_t hdr) {
    apply { }
}

V1Switch(WireParser(), WireVerifyChecksum(), WireIngress(), WireEgress(), WireComputeChecksum(), WireDeparser()) main;
