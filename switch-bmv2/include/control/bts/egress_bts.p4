// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Egress BTS (paper section 2.3, variant 2): a packet triggers a BTS after queueing if it leaves a queue above Q_th behind.
// The congested link limits the rate of these signals, so they are not suppressed.
#ifndef SFC_EGRESS_BTS_P4
#define SFC_EGRESS_BTS_P4

control EgressBts(in headers_t hdr, inout metadata_t meta, in standard_metadata_t std) {
    apply {
        if (meta.is_egress_watched == 1 && meta.queue_bytes > meta.q_th_bytes) {
            meta.signal.wants_bts = 1;
            meta.bts.port = std.egress_port;
            meta.bts.traffic_class = meta.traffic_class;
            meta.bts.cause = bts_cause_t.queue;
            meta.bts.cached_us = 0;
            meta.bts.triggered_us = std.egress_global_timestamp;
            meta.bts.switch_id = meta.switch_id;
        }
    }
}

#endif
