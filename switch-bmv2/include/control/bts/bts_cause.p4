// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Why a packet of a watched class is to trigger a BTS, if at all (paper Algorithm 1, lines 7 to 9): its queue, a pause that
// the cache remembers, or one that the incast estimator computes. The longer of the two latter goes into the BTS anyway.
#ifndef SFC_BTS_CAUSE_P4
#define SFC_BTS_CAUSE_P4

control BtsCause(inout headers_t hdr, in metadata_t meta, in bit<1> is_caching, out bts_cause_t cause,
                 out duration_us_t cached_us) {
    PauseCacheLookup() lookup;
    IncastEstimator() estimator;
    duration_us_t estimate_us = 0;

    apply {
        cause = bts_cause_t.none;
        cached_us = 0;
        if (is_caching == 1) {
            lookup.apply(hdr, meta.now_us, cached_us);
        }
        if (meta.is_server_ingress == 1) {
            estimator.apply(hdr, meta, estimate_us);
        }
        if (meta.is_egress_watched == 0 && meta.queue_bytes > meta.q_th_bytes) {
            cause = bts_cause_t.queue;
        } else if (estimate_us > cached_us) {
            cause = bts_cause_t.estimator;
        } else if (cached_us > 0) {
            cause = bts_cause_t.cache;
        }
        if (estimate_us > cached_us) {
            cached_us = estimate_us;
        }
    }
}

#endif
