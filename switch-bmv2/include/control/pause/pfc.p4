// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Priority flow control (paper section 2.2) on the bytes held for each (ingress port, class). Above a dynamic Xoff threshold
// the neighbour is paused; an offset below Xoff it is resumed. Bytes that arrive after Xoff fit into the headroom, which is
// not part of the shareable buffer. A pause lasts at most 65535 quanta, so it is refreshed as long as needed.
#ifndef SFC_PFC_P4
#define SFC_PFC_P4

// Bytes that arrived on a port and class and have not left yet. Index: ingress port ++ class.
register<bytes_t>(QUEUES) pfc_held_bytes;

// 1 while the neighbour is paused. Index: ingress port ++ class.
register<bit<8>>(QUEUES) pfc_is_paused;

// Time of the last pause frame, in microseconds of the switch's clock. Index: ingress port ++ class.
register<time_us_t>(QUEUES) pfc_sent_us;

// Xoff = alpha (B - headroom - used), docs/sources.md#pfc.
control PfcThreshold(in metadata_t meta, out bit<64> xoff_bytes) {
    apply {
        xoff_bytes = ((bit<64>) (meta.pfc.shareable_bytes |-| meta.buffer_bytes) * (bit<64>) meta.pfc.alpha_q8) >> 8;
    }
}

control PfcSignal(inout metadata_t meta, in port_t port, in time_us_t now_us, in bit<16> quanta, in pfc_event_t event) {
    apply {
        meta.signal.wants_pause = 1;
        meta.signal.pause_port = port;
        meta.signal.pause_class = meta.traffic_class;
        meta.signal.pause_quanta = quanta;
        pfc_sent_us.write((bit<32>) (port ++ meta.traffic_class), now_us);
        pfc_events.count((bit<32>) (bit<EVENT_BITS>) event);
    }
}

control PfcEnqueue(inout metadata_t meta, in standard_metadata_t std) {
    PfcThreshold() threshold;
    PfcSignal() xoff;
    PfcSignal() refresh;
    bit<32> place = 0;
    bytes_t held = 0;
    bit<8> is_paused = 0;
    time_us_t sent_us = 0;
    bit<64> xoff_bytes = 0;

    action lossless(bit<16> alpha_q8, bytes_t xon_offset_bytes, bytes_t shareable_bytes, duration_us_t refresh_us) {
        meta.pfc.is_lossless = 1;
        meta.pfc.alpha_q8 = alpha_q8;
        meta.pfc.xon_offset_bytes = xon_offset_bytes;
        meta.pfc.shareable_bytes = shareable_bytes;
        meta.pfc.refresh_us = refresh_us;
    }

    action lossy() {
        meta.pfc.is_lossless = 0;
    }

    table pfc {
        key = {
            std.ingress_port: exact @name("port");
            meta.traffic_class: exact @name("class");
        }
        actions = { lossless; @defaultonly lossy; }
        const default_action = lossy();
        size = QUEUES;
    }

    action hold() {
        pfc_held_bytes.read(held, place);
        held = held + meta.accounted_bytes;
        pfc_held_bytes.write(place, held);
        pfc_is_paused.read(is_paused, place);
        pfc_sent_us.read(sent_us, place);
    }

    apply {
        if (pfc.apply().hit) {
            place = (bit<32>) (std.ingress_port ++ meta.traffic_class);
            hold();
            threshold.apply(meta, xoff_bytes);
            if (is_paused == 0 && (bit<64>) held > xoff_bytes) {
                pfc_is_paused.write(place, 1);
                xoff.apply(meta, std.ingress_port, meta.now_us, PFC_MAX_QUANTA, pfc_event_t.xoff);
            } else if (is_paused == 1 && meta.now_us - sent_us >= (time_us_t) meta.pfc.refresh_us) {
                refresh.apply(meta, std.ingress_port, meta.now_us, PFC_MAX_QUANTA, pfc_event_t.refresh);
            }
        }
    }
}

// Runs after QueueLeave, on the buffer's depth without this packet.
control PfcDequeue(inout metadata_t meta, in standard_metadata_t std) {
    PfcThreshold() threshold;
    PfcSignal() xon;
    PfcSignal() refresh;
    bit<32> place = 0;
    bytes_t held = 0;
    bytes_t missing = 0;
    bit<8> is_paused = 0;
    time_us_t sent_us = 0;
    bit<64> xoff_bytes = 0;

    action release() {
        pfc_held_bytes.read(held, place);
        missing = meta.accounted_bytes |-| held;
        held = held |-| meta.accounted_bytes;
        pfc_held_bytes.write(place, held);
        pfc_is_paused.read(is_paused, place);
        pfc_sent_us.read(sent_us, place);
    }

    apply {
        if (meta.pfc.is_lossless == 1) {
            place = (bit<32>) (std.ingress_port ++ meta.traffic_class);
            release();
            if (missing != 0) {  // as in QueueLeave: wrapped bytes would pause the neighbour for ever
                queue_events.count((bit<32>) (bit<EVENT_BITS>) queue_event_t.pfc_underflow);
            }
            if (is_paused == 1) {
                threshold.apply(meta, xoff_bytes);
                if (held == 0 || (bit<64>) held + (bit<64>) meta.pfc.xon_offset_bytes <= xoff_bytes) {
                    pfc_is_paused.write(place, 0);
                    xon.apply(meta, std.ingress_port, std.egress_global_timestamp, 0, pfc_event_t.xon);
                } else if (std.egress_global_timestamp - sent_us >= (time_us_t) meta.pfc.refresh_us) {
                    refresh.apply(meta, std.ingress_port, std.egress_global_timestamp, PFC_MAX_QUANTA,
                                  pfc_event_t.refresh);
                }
            }
        }
    }
}

#endif
