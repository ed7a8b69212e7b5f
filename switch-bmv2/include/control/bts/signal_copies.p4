// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Copies that become signals. A packet that triggers a BTS, a pause frame or both is mirrored once to the recirculation
// port. There egress builds the signal and recirculates it to ingress. For both signals the copy is mirrored once more.
// Pause frames have their own session, since a MAC sends them at once, whereas building a BTS takes time.
#ifndef SFC_SIGNAL_COPIES_P4
#define SFC_SIGNAL_COPIES_P4

control MirrorAtIngress(inout metadata_t meta) {
    action mirror_for_bts() {
        clone_preserving_field_list(CloneType.I2E, BTS_MIRROR_SESSION, MIRROR_FIELDS);
        copy_events.count((bit<32>) (bit<EVENT_BITS>) copy_event_t.made);
    }

    action mirror_for_pause() {
        clone_preserving_field_list(CloneType.I2E, PAUSE_MIRROR_SESSION, MIRROR_FIELDS);
        copy_events.count((bit<32>) (bit<EVENT_BITS>) copy_event_t.made);
    }

    apply {
        if (meta.signal.wants_bts == 1) {
            mirror_for_bts();
        } else if (meta.signal.wants_pause == 1) {
            mirror_for_pause();
        }
    }
}

control MirrorAtEgress(inout metadata_t meta) {
    action mirror_for_bts() {
        clone_preserving_field_list(CloneType.E2E, BTS_MIRROR_SESSION, MIRROR_FIELDS);
        copy_events.count((bit<32>) (bit<EVENT_BITS>) copy_event_t.made);
    }

    action mirror_for_pause() {
        clone_preserving_field_list(CloneType.E2E, PAUSE_MIRROR_SESSION, MIRROR_FIELDS);
        copy_events.count((bit<32>) (bit<EVENT_BITS>) copy_event_t.made);
    }

    apply {
        if (meta.signal.wants_bts == 1) {
            mirror_for_bts();
        } else if (meta.signal.wants_pause == 1) {
            mirror_for_pause();
        }
    }
}

// Builds the signal of a copy: first the BTS, then, from a further copy, the pause frame if one is needed. If the queue has
// drained to Q_tg by now, no BTS is sent, since its pause of 0 would end a pause that another BTS requested.
control SignalBuilder(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    BtsBuilder() bts_builder;
    PauseBuilder() pause_builder;
    BfcNextTurn() next_turn;
    MirrorAtEgress() mirror;
    CountBts() sent;
    duration_us_t pause_us = 0;

    action send_again() {
        meta.now_us = std.egress_global_timestamp;
        recirculate_preserving_field_list(RECIRCULATE_FIELDS);
    }

    apply {
        if (meta.signal.wants_bts == 1) {
            meta.signal.wants_bts = 0;
            bts_builder.apply(hdr, meta, pause_us);
            if (pause_us != 0) {
                meta.own_signal = own_signal_t.bts;
                if (meta.bts.cause == bts_cause_t.feedback) {
                    bts_events.count((bit<32>) (bit<EVENT_BITS>) bts_event_t.sent_feedback);
                } else if (meta.bts.cause == bts_cause_t.sub_rtt) {
                    bts_events.count((bit<32>) (bit<EVENT_BITS>) bts_event_t.sent_sub_rtt);
                } else {
                    sent.apply(meta.bts.cause, bts_event_t.sent_queue, bts_event_t.sent_cache,
                               bts_event_t.sent_estimator);
                }
                mirror.apply(meta);
            } else {
                bts_events.count((bit<32>) (bit<EVENT_BITS>) bts_event_t.not_needed);
            }
        }
        if (meta.own_signal == own_signal_t.none && meta.signal.wants_pause == 1) {
            meta.own_signal = own_signal_t.pause;
            pause_builder.apply(hdr, meta);
            if (meta.bfc.is_managed == 1) {
                next_turn.apply(meta, std);
                mirror.apply(meta);
            }
        }
        if (meta.own_signal != own_signal_t.none) {
            send_again();
        } else {
            copy_events.count((bit<32>) (bit<EVENT_BITS>) copy_event_t.unused);
            mark_to_drop(std);
        }
    }
}

#endif
