// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Incast estimator (paper section 3.3, optional): the hardware's low-pass filter is a discounting rate estimator of the bytes
// that local servers send to a watched destination. The control plane sets its time constant tau; it adds 1/256 of cells and
// gives cells. X - tau R is the queue expected at the destination. It causes pauses like a measured queue: above a threshold,
// down to a target.
#ifndef SFC_T2_INCAST_ESTIMATOR_P4
#define SFC_T2_INCAST_ESTIMATOR_P4

#ifdef WITH_ESTIMATOR

// What the estimator needs of a packet, found beside forwarding.
control WatchedDestination(in t2_headers_t hdr, inout ingress_metadata_t meta) {
    PacketLength() length;
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) widen;  // only a hash moves bits to a container of another width
    bytes_t packet_bytes = 0;

    // `q_th` and `q_tg` contain tau times the rate of the destination's link, all in cells.
    action watch(bit<WATCHED_BITS> index, cells_t q_th_and_rate, cells_t q_tg_and_rate, rate_code_t of_link) {
        meta.is_estimated = meta.is_server_ingress;
        meta.estimator = index;
        meta.estimator_q_th = q_th_and_rate;
        meta.estimator_q_tg = q_tg_and_rate;
        meta.estimator_rate = of_link;
    }

    action no_watch() { }

    table watched_destination {
        key = { hdr.ipv4.dst_addr: exact @name("dst_addr"); }
        actions = { watch; @defaultonly no_watch; }
        const default_action = no_watch();
        size = WATCHED;
    }

    action measure() {
        packet_bytes = widen.get({ hdr.ipv4.total_len });
    }

    apply {
        watched_destination.apply();
        measure();
        length.apply(packet_bytes, meta.length_q8);
    }
}

control IncastEstimator(inout ingress_metadata_t meta) {
    Lpf<cells_t, bit<WATCHED_BITS>>(WATCHED) filtered;
    PauseTime() pause_time;
    cells_t seen = 0;
    cells_t above_q_th = 0;
    cells_t above_q_tg = 0;

    action compare() {
        above_q_th = seen |-| meta.estimator_q_th;
        above_q_tg = seen |-| meta.estimator_q_tg;
    }

    apply {
        seen = filtered.execute(meta.length_q8, meta.estimator);
        compare();
        if (above_q_th != 0) {
            pause_time.apply(above_q_tg, meta.estimator_rate, meta.estimate_us);
        }
    }
}

#else

control WatchedDestination(in t2_headers_t hdr, inout ingress_metadata_t meta) {
    apply { }
}

control IncastEstimator(inout ingress_metadata_t meta) {
    apply { }
}

#endif

#endif
