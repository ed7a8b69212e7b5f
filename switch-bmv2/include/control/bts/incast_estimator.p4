// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Incast estimator (paper section 3.3, optional): a discounting rate estimator of the bytes that local servers send to a watched
// destination. X decays with time constant tau and grows by each packet. X - tau R is the queue expected at the destination.
// It causes pauses like a measured queue: above a threshold, down to a target.
#ifndef SFC_INCAST_ESTIMATOR_P4
#define SFC_INCAST_ESTIMATOR_P4

// X of each watched destination in bytes, and the time of its last update.
register<bytes_t>(WATCHED_DESTINATIONS) estimator_bytes;
register<time_us_t>(WATCHED_DESTINATIONS) estimator_time_us;

control IncastEstimator(in headers_t hdr, in metadata_t meta, out duration_us_t estimate_us) {
    PauseTime() pause_time;
    Decay() decay;
    bit<32> place = 0;
    bit<64> halvings_per_us_q24 = 0;
    bytes_t tau_rate_bytes = 0;
    bit<32> us_per_byte_q24 = 0;
    bytes_t estimator_q_th_bytes = 0;
    bytes_t estimator_q_tg_bytes = 0;
    bytes_t seen_bytes = 0;
    bytes_t expected_bytes = 0;
    time_us_t seen_us = 0;
    bit<64> halvings_q24 = 0;

    // `halvings_q24`: 1 / (tau ln 2) per microsecond; `tau_rate`: tau times the destination's link rate.
    action watch(bit<32> index, bit<32> halvings, bytes_t tau_rate, bit<32> byte_us_q24, bytes_t q_th, bytes_t q_tg) {
        place = index;
        halvings_per_us_q24 = (bit<64>) halvings;
        tau_rate_bytes = tau_rate;
        us_per_byte_q24 = byte_us_q24;
        estimator_q_th_bytes = q_th;
        estimator_q_tg_bytes = q_tg;
    }

    action no_watch() { }

    table watched_destination {
        key = { hdr.ipv4.dst_addr: exact @name("dst_addr"); }
        actions = { watch; @defaultonly no_watch; }
        const default_action = no_watch();
        size = WATCHED_DESTINATIONS;
    }

    action store() {
        seen_bytes = seen_bytes |+| meta.accounted_bytes;
        estimator_bytes.write(place, seen_bytes);
        estimator_time_us.write(place, meta.now_us);
    }

    apply {
        estimate_us = 0;
        if (watched_destination.apply().hit) {
            estimator_bytes.read(seen_bytes, place);
            estimator_time_us.read(seen_us, place);
            halvings_q24 = (bit<64>) (meta.now_us - seen_us) * halvings_per_us_q24;
            decay.apply(seen_bytes, halvings_q24);
            // This packet is left out: a single sender at line rate must not look like a queue of half a packet.
            expected_bytes = seen_bytes |-| tau_rate_bytes;
            if (expected_bytes > estimator_q_th_bytes) {
                pause_time.apply(expected_bytes |-| estimator_q_tg_bytes, us_per_byte_q24, estimate_us);
            }
            store();
        }
    }
}

#endif
