// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Decides at ingress whether to pause a data packet's sender (paper Algorithm 1, lines 7 to 13): its queue is above Q_th
// before the packet joins, its destination is in the pause cache, or the incast estimator expects a queue there. The packet
// is then mirrored unless it is suppressed.
#ifndef SFC_BTS_TRIGGER_P4
#define SFC_BTS_TRIGGER_P4

control BtsTrigger(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    PauseCacheLearn() learn;
    PauseCacheRetire() retire;
    BtsCause() find_cause;
    Suppression() suppression;
    CountBts() suppressed;
    bit<1> is_caching = 0;
    bit<1> is_suppressed = 0;
    duration_us_t cached_us = 0;
    bts_cause_t cause = bts_cause_t.none;

    action ingress_bts(bytes_t q_th_bytes, bytes_t q_tg_bytes) {
        meta.is_watched = 1;
        meta.q_th_bytes = q_th_bytes;
        meta.bts.q_tg_bytes = q_tg_bytes;
    }

    // As above, but the pause follows the depth that the last departure noted.
    action ingress_bts_by_departure(bytes_t q_th_bytes, bytes_t q_tg_bytes) {
        meta.is_watched = 1;
        meta.q_th_bytes = q_th_bytes;
        meta.bts.q_tg_bytes = q_tg_bytes;
        meta.bts.is_depth_noted = 1;
    }

    // Ingress uses cache and estimator only. Egress triggers on the depth that packets leave behind.
    action egress_bts(bytes_t q_th_bytes, bytes_t q_tg_bytes) {
        meta.is_watched = 1;
        meta.is_egress_watched = 1;
        meta.q_th_bytes = q_th_bytes;
        meta.bts.q_tg_bytes = q_tg_bytes;
    }

    action no_bts() {
        meta.is_watched = 0;
    }

    // The traffic classes whose queues are watched.
    table bts_trigger {
        key = { meta.traffic_class: exact @name("class"); }
        actions = { ingress_bts; ingress_bts_by_departure; egress_bts; no_bts; }
        default_action = no_bts();
        size = TRAFFIC_CLASSES;
    }

    action cache_on() {
        is_caching = 1;
    }

    action cache_off() {
        is_caching = 0;
    }

    table pause_cache {
        actions = { @defaultonly cache_on; @defaultonly cache_off; }
        default_action = cache_off();
    }

    action want_bts() {
        meta.signal.wants_bts = 1;
        meta.bts.port = std.egress_spec;
        meta.bts.traffic_class = meta.traffic_class;
        meta.bts.cause = cause;
        meta.bts.cached_us = cached_us;
        meta.bts.triggered_us = meta.now_us;
        meta.bts.switch_id = meta.switch_id;
    }

    apply {
        pause_cache.apply();
        if (is_caching == 1) {
            retire.apply(meta.now_us);
        }
        if (hdr.bts.isValid()) {
            // Only BTS of other switches are cached, since a switch knows its own queues.
            if (is_caching == 1 && hdr.bts.cacheable == 1 && meta.own_signal == own_signal_t.none) {
                learn.apply(hdr, meta.now_us, meta.dilation);
            }
        } else if (!hdr.bth.isValid() || hdr.bth.opcode != ROCE_ACKNOWLEDGE) {
            // Acknowledgements may share the class of data, but no sender could obey a BTS for them.
            bts_trigger.apply();
            if (meta.is_watched == 1) {
                find_cause.apply(hdr, meta, is_caching, cause, cached_us);
                if (cause != bts_cause_t.none) {
                    suppression.apply(hdr, meta, is_suppressed);
                    if (is_suppressed == 0) {
                        want_bts();
                    } else {
                        suppressed.apply(cause, bts_event_t.suppressed_queue, bts_event_t.suppressed_cache,
                                         bts_event_t.suppressed_estimator);
                    }
                }
            }
        }
    }
}

#endif
