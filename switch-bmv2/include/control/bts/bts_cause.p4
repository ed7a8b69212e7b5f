// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// The cause for which a packet of a watched class triggers a BTS, if any (paper Algorithm 1, lines 7 to 9): its queue, a
// cached pause, or the estimated queue of an incast. The longer pause of cache and estimator is stored in any case.
#ifndef SFC_BTS_CAUSE_P4
#define SFC_BTS_CAUSE_P4

control BtsCause(inout headers_t hdr, in metadata_t meta, in bit<1> is_caching, out bts_cause_t cause,
                 out duration_us_t cached_us) {
    PauseCacheLookup() lookup;
    IncastEstimator() estimator;
    duration_us_t estimate_us = 0;
    bts_cause_t remote = bts_cause_t.cache;
    duration_us_t least_us = 0;

    action ignore_below(duration_us_t least_pause_us) {
        least_us = least_pause_us;
    }

    action ignore_none() {
        least_us = 0;
    }

    // A remaining pause that a BTS cannot carry, since it is rounded down to 0, causes none.
    table least_cached_pause {
        actions = { @defaultonly ignore_below; @defaultonly ignore_none; }
        default_action = ignore_none();
    }

    apply {
        cause = bts_cause_t.none;
        cached_us = 0;
        if (is_caching == 1) {
            lookup.apply(hdr, meta.now_us, cached_us);
        }
        if (meta.is_server_ingress == 1) {
            estimator.apply(hdr, meta, estimate_us);
        }
        if (estimate_us > cached_us) {
            remote = bts_cause_t.estimator;
            cached_us = estimate_us;
        }
        if (cached_us > 0) {
            least_cached_pause.apply();
            cached_us = cached_us < least_us ? 0 : cached_us;
        }
        if (meta.is_egress_watched == 0 && meta.queue_bytes > meta.q_th_bytes) {
            cause = bts_cause_t.queue;
        } else if (cached_us > 0) {
            cause = remote;
        }
    }
}

#endif
