// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// QCN's congestion points (IEEE 802.1Qau, docs/sources.md#qcn), one for each (port, class). A data packet is sampled, before
// it joins its queue, after an interval in bytes. Fb = -((Q - Q_eq) + w (Q - Q_old)). If Fb is negative, the packet's sender
// gets |Fb| in 6 bits. A larger |Fb| shortens the interval to the next sample.
//
// The feedback is a BTS of cause `feedback`, which is built, routed and trusted like any other BTS. It requests no pause, so
// it is neither cached nor turned into a pause frame. A packet that triggers a BTS of SFC causes no feedback.
#ifndef SFC_QCN_P4
#define SFC_QCN_P4

// Range of the random factor of an interval, 0.85 to 1.15, in 2^-16.
const bit<32> LEAST_JITTER_Q16 = 55706;
const bit<32> MOST_JITTER_Q16 = 75366;

// Bytes left until the next sample. Index: port ++ class.
register<bytes_t>(QUEUES) qcn_bytes_left;

// Depth at the last sample. Index: port ++ class.
register<bytes_t>(QUEUES) qcn_old_bytes;

control CongestionPoint(in headers_t hdr, inout metadata_t meta, in standard_metadata_t std) {
    bit<64> q_eq = 0;
    bit<64> weight = 0;
    bit<64> most_excess = 0;
    bit<64> levels_per_byte_q32 = 0;
    bytes_t left_bytes = 0;
    bytes_t old_bytes = 0;
    bytes_t interval_bytes = 0;
    bit<64> weighed = 0;
    bit<64> allowed = 0;
    bit<64> excess = 0;
    bit<32> feedback = 0;
    bit<FEEDBACK_LEVEL_BITS> level = 0;
    bit<32> jitter_q16 = 0;

    // `most_bytes` is Q_eq (2 w + 1), the largest -Fb that can be reported; `levels_q32` is 63 / most_bytes.
    action congestion_point(bytes_t q_eq_bytes, bit<8> w, bytes_t most_bytes, bit<32> levels_q32) {
        q_eq = (bit<64>) q_eq_bytes;
        weight = (bit<64>) w;
        most_excess = (bit<64>) most_bytes;
        levels_per_byte_q32 = (bit<64>) levels_q32;
    }

    action no_samples() { }

    table qcn {
        key = { meta.traffic_class: exact @name("class"); }
        actions = { congestion_point; @defaultonly no_samples; }
        const default_action = no_samples();
        size = TRAFFIC_CLASSES;
    }

    action next_after(bytes_t mean_bytes) {
        interval_bytes = mean_bytes;
    }

    // The upper bits of the feedback determine the interval to the next sample.
    table qcn_interval {
        key = { level: exact @name("level"); }
        actions = { next_after; }
        default_action = next_after(0);
        size = FEEDBACK_LEVELS;
    }

    action count_down() {
        qcn_bytes_left.write((bit<32>) meta.queue, left_bytes - meta.accounted_bytes);
    }

    // Compute -Fb as a difference of two unsigned numbers.
    action compare_depths() {
        qcn_old_bytes.read(old_bytes, (bit<32>) meta.queue);
        qcn_old_bytes.write((bit<32>) meta.queue, meta.queue_bytes);
        weighed = (bit<64>) meta.queue_bytes + weight * (bit<64>) meta.queue_bytes;
        allowed = q_eq + weight * (bit<64>) old_bytes;
        feedback = 0;
    }

    action quantize() {
        feedback = (bit<32>) ((excess * levels_per_byte_q32) >> 32);
    }

    action start_interval() {
        interval_bytes = (bytes_t) (((bit<64>) interval_bytes * (bit<64>) jitter_q16) >> 16);
        qcn_bytes_left.write((bit<32>) meta.queue, interval_bytes);
    }

    action notify() {
        meta.signal.wants_bts = 1;
        meta.bts.port = std.egress_spec;
        meta.bts.traffic_class = meta.traffic_class;
        meta.bts.cause = bts_cause_t.feedback;
        meta.bts.cached_us = (duration_us_t) feedback;
        meta.bts.q_tg_bytes = 0;
        meta.bts.triggered_us = meta.now_us;
        meta.bts.switch_id = meta.switch_id;
    }

    apply {
        // Only senders of RoCE data have a reaction point.
        if (hdr.bth.isValid() && hdr.bth.opcode != ROCE_ACKNOWLEDGE) {
            if (qcn.apply().hit) {
                qcn_bytes_left.read(left_bytes, (bit<32>) meta.queue);
                if (left_bytes > meta.accounted_bytes) {
                    count_down();
                } else {
                    compare_depths();
                    if (weighed > allowed) {
                        excess = weighed - allowed;
                        if (excess > most_excess) {
                            excess = most_excess;
                        }
                        quantize();
                    }
                    level = (bit<FEEDBACK_LEVEL_BITS>) (feedback >> (FEEDBACK_BITS - FEEDBACK_LEVEL_BITS));
                    qcn_interval.apply();
                    random(jitter_q16, LEAST_JITTER_Q16, MOST_JITTER_Q16);
                    start_interval();
                    if (feedback != 0 && meta.signal.wants_bts == 0) {
                        notify();
                    }
                }
            }
        }
    }
}

#endif
