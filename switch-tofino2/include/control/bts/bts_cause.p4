// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// The cause for which a packet of a watched class triggers a BTS, if any (paper Algorithm 1, lines 7 to 9): its queue, a
// cached pause, or the estimated queue of an incast. The longer pause of cache and estimator is stored in any case.
#ifndef SFC_T2_BTS_CAUSE_P4
#define SFC_T2_BTS_CAUSE_P4

control BtsCause(inout ingress_metadata_t meta) {
    IncastEstimator() estimator;
    bit<32> longer = 0;

    action compare() {
        longer = meta.estimate_us |-| meta.cached_us;
        meta.mirror.longest_us = max(meta.estimate_us, meta.cached_us);
    }

    action found(bts_cause_t cause) {
        meta.cause = cause;
        meta.mirror.cause = cause;
    }

    action found_without_cache(bts_cause_t cause) {
        meta.cause = cause;
        meta.mirror.cause = cause;
        meta.mirror.longest_us = meta.estimate_us;
    }

    // Comparisons with 0, in one step.
    table cause_of {
        key = {
            meta.over_cells: ternary @name("over_q_th");
            meta.stale: ternary @name("stale");
            meta.cached_us: ternary @name("cached_us");
            meta.estimate_us: ternary @name("estimate_us");
            longer: ternary @name("longer");
        }
        actions = { found; found_without_cache; }
        const entries = {
            (0, 0, 0, 0, _): found(bts_cause_t.none);
            (0, 0, _, _, 0): found(bts_cause_t.cache);
            (0, 0, _, _, _): found(bts_cause_t.estimator);
            (0, _, _, 0, _): found_without_cache(bts_cause_t.none);
            (0, _, _, _, _): found_without_cache(bts_cause_t.estimator);
            (_, 0, _, _, _): found(bts_cause_t.queue);
            (_, _, _, _, _): found_without_cache(bts_cause_t.queue);
        }
    }

    apply {
        if (meta.is_estimated == 1) {
            estimator.apply(meta);
        }
        compare();
        cause_of.apply();
    }
}

#endif
