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
    PauseGrain() round_down;
    duration_us_t estimate_us = 0;
    duration_us_t grain_us = 0;
    bit<32> grain_reciprocal = 0;
    bit<8> grain_shift = 0;
    bts_cause_t remote = bts_cause_t.cache;

    action whole(duration_us_t us, bit<32> reciprocal, bit<8> shift) {
        grain_us = us;
        grain_reciprocal = reciprocal;
        grain_shift = shift;
    }

    action exact_us() {
        grain_us = 0;
    }

    // The grain of pauses that the cache and the estimator know.
    table cached_grain {
        actions = { @defaultonly whole; @defaultonly exact_us; }
        default_action = exact_us();
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
            cached_grain.apply();
            if (grain_us > 1) {
                round_down.apply(cached_us, grain_us, grain_reciprocal, grain_shift);
            }
        }
        if (meta.is_egress_watched == 0 && meta.queue_bytes > meta.q_th_bytes) {
            cause = bts_cause_t.queue;
        } else if (cached_us > 0) {
            cause = remote;
        }
    }
}

#endif
