// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Shared buffer with a dynamic threshold (Choudhury and Hahne, paper section 5.2): a packet joins its queue if the queue
// stays within T = alpha * (B - used) and the buffer within B. Other packets are dropped and counted.
#ifndef SFC_SHARED_BUFFER_P4
#define SFC_SHARED_BUFFER_P4

control SharedBuffer(inout metadata_t meta, inout standard_metadata_t std) {
    Drop() drop;
    QueueJoin() join;
    bit<64> threshold_bytes = 0;
    bytes_t limit_bytes = 0;

    action set_limit(bytes_t buffer_limit_bytes) {
        limit_bytes = buffer_limit_bytes;
    }

    // B, the bytes of the whole buffer.
    table buffer_size {
        actions = { @defaultonly set_limit; }
        default_action = set_limit(0xffffffff);
    }

    // alpha in 1/256: with 256 a single queue can take half of the buffer, q = alpha (B - q)
    // (docs/sources.md#dynamic-threshold).
    action dynamic_threshold(bit<16> alpha_q8) {
        threshold_bytes = ((bit<64>) (limit_bytes |-| meta.buffer_bytes) * (bit<64>) alpha_q8) >> 8;
    }

    action no_threshold() {
        threshold_bytes = (bit<64>) limit_bytes;
    }

    table class_threshold {
        key = { meta.traffic_class: exact @name("class"); }
        actions = { dynamic_threshold; no_threshold; }
        default_action = no_threshold();
        size = TRAFFIC_CLASSES;
    }

    apply {
        buffer_size.apply();
        class_threshold.apply();
        if ((bit<64>) meta.buffer_bytes + (bit<64>) meta.accounted_bytes > (bit<64>) limit_bytes) {
            drop.apply(meta, std, std.egress_spec, drop_reason_t.buffer_full);
        } else if ((bit<64>) meta.queue_bytes + (bit<64>) meta.accounted_bytes > threshold_bytes) {
            drop.apply(meta, std, std.egress_spec, drop_reason_t.dynamic_threshold);
        } else {
            join.apply(meta);
        }
    }
}

#endif
