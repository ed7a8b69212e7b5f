// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Counted drops: one counter for the whole switch, indexed by port and reason.
#ifndef SFC_DROP_P4
#define SFC_DROP_P4

// Index: port ++ drop_reason_t. The port is the one a packet wanted out of, or came in on while that is not known.
counter(DROP_COUNTERS, CounterType.packets_and_bytes) drops;

control Drop(inout metadata_t meta, inout standard_metadata_t std, in port_t port, in drop_reason_t reason) {
    apply {
        drops.count((bit<32>) (port ++ (bit<DROP_REASON_BITS>) reason));
        mark_to_drop(std);
        meta.is_dropped = 1;
    }
}

#endif
