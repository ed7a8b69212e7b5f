// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Counted drops, by port and reason.
#ifndef SFC_DROP_P4
#define SFC_DROP_P4

// The port is the packet's egress port, or its ingress port as long as the egress port is not known.
control Drop(inout metadata_t meta, inout standard_metadata_t std, in port_t port, in drop_reason_t reason) {
    apply {
        drops.count((bit<32>) (port ++ (bit<EVENT_BITS>) reason));
        mark_to_drop(std);
        meta.is_dropped = 1;
    }
}

#endif
