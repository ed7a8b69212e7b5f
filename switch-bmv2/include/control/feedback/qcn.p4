// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// QCN's congestion point (IEEE 802.1Qau, docs/sources.md#qcn), one for each (port, class): after so many bytes a data packet
// is sampled before it joins its queue. Fb = -((Q - Q_eq) + w (Q - Q_old)); where that is negative, the packet's sender is
// told |Fb| in 6 bits. The larger it is, the sooner the next sample comes.
//
// The notification is a BTS of cause `feedback`, made, routed and trusted like any other. It asks for no pause: nobody caches
// it or turns it into a pause frame. A packet that SFC wants a BTS for gets that one and no feedback.
#ifndef SFC_QCN_P4
#define SFC_QCN_P4

// The interval to a sample is stretched by chance to between 0.85 and 1.15 of itself, in 2^-16.
const bit<32> LEAST_JITTER_Q16 = 55706;
const bit<32> MOST_JITTER_Q16 = 75366;

// Bytes that may still come before the next sample. Index: port ++ class.
register<bytes_t>(QUEUES) qcn_bytes_left;

// Depth at the last sample. Index as above.
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

    // `most_bytes` is Q_eq (2 w + 1), the largest -Fb that can be told; `levels_q32` is 63 over it.
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

    // The upper bits of the feedback decide when the next sample comes.
    table qcn_interval {
        key = { level: exact @name("level"); }
        actions = { next_after; }
        default_action = next_after(0);
        size = FEEDBACK_LEVELS;
    }

    action wait() {
        qcn_bytes_left.write((bit<32>) meta.queue, left_bytes - meta.accounted_bytes);
    }

    // -Fb as a difference of two numbers that are not negative.
    action look() {
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
        // Only the data of a queue pair has a reaction point behind it.
        if (hdr.bth.isValid() && hdr.bth.opcode != ROCE_ACKNOWLEDGE) {
            if (qcn.apply().hit) {
                qcn_bytes_left.read(left_bytes, (bit<32>) meta.queue);
                if (left_bytes > meta.accounted_bytes) {
                    wait();
                } else {
                    look();
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
