// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Priority flow control (paper section 2.2) per (ingress port, class), with the thresholds of the HPCC simulator
// (docs/sources.md#pfc). The first bytes of a port and class are its reserve, and the following ones are shared. If these
// would exceed a dynamic Xoff threshold, the packet goes to the headroom. The neighbour is paused while bytes are in the
// headroom or the shared ones reach Xoff, and resumed an offset below it. A pause lasts at most 65535 quanta, so packets of
// all ports refresh the pauses of all ports in turn: those of a paused port may wait for longer than that.
#ifndef SFC_PFC_P4
#define SFC_PFC_P4

// Bytes that arrived on a port and class and have not left yet, without the headroom. Index: ingress port ++ class.
register<bytes_t>(QUEUES) pfc_held_bytes;

// Bytes of a port and class in the headroom. Index: ingress port ++ class.
register<bytes_t>(QUEUES) pfc_headroom_bytes;

// Bytes of all ports and classes beyond their reserves, without the headroom, one cell.
register<bytes_t>(1) pfc_shared_bytes;

// 1 while the neighbour is paused. Index: ingress port ++ class.
register<bit<8>>(QUEUES) pfc_is_paused;

// Time of the last pause frame, in microseconds of the switch's clock. Index: ingress port ++ class.
register<time_us_t>(QUEUES) pfc_sent_us;

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

// Port whose pause was looked at last, one cell.
register<bit<32>>(1) pfc_looked_at_port;

// Looks at the pause of one port, the next one with every packet, and sends it again in time.
control PfcRefresh(inout metadata_t meta, in time_us_t now_us) {
    PfcSignal() refresh;
    bit<32> port = 0;
    bit<32> place = 0;
    bit<8> is_paused = 0;
    time_us_t sent_us = 0;

    action next_port() {
        pfc_looked_at_port.read(port, 0);
        port = port >= (bit<32>) meta.pfc.last_port ? 1 : port + 1;
        pfc_looked_at_port.write(0, port);
        place = (bit<32>) ((port_t) port ++ meta.traffic_class);
        pfc_is_paused.read(is_paused, place);
        pfc_sent_us.read(sent_us, place);
    }

    apply {
        if (meta.signal.wants_pause == 0) {
            next_port();
            if (is_paused == 1 && now_us - sent_us >= (time_us_t) meta.pfc.refresh_us) {
                refresh.apply(meta, (port_t) port, now_us, PFC_MAX_QUANTA, pfc_event_t.refresh);
            }
        }
    }
}

control PfcEnqueue(inout metadata_t meta, in standard_metadata_t std) {
    PfcSignal() xoff;
    PfcRefresh() refresh;
    bit<32> place = 0;
    bytes_t held = 0;
    bytes_t headroom = 0;
    bytes_t shared = 0;
    bytes_t new_shared = 0;
    bytes_t to_headroom = 0;
    bytes_t to_held = 0;
    bit<8> is_paused = 0;
    bit<64> xoff_bytes = 0;

    // The switch refreshes pauses after `refresh_us`. `last_port` is the highest number of its ports.
    action lossless(bit<16> alpha_q8, bytes_t xon_offset_bytes, bytes_t shareable_bytes, bytes_t reserve_bytes,
                    duration_us_t refresh_us, port_t last_port) {
        meta.pfc.is_lossless = 1;
        meta.pfc.alpha_q8 = alpha_q8;
        meta.pfc.xon_offset_bytes = xon_offset_bytes;
        meta.pfc.shareable_bytes = shareable_bytes;
        meta.pfc.reserve_bytes = reserve_bytes;
        meta.pfc.refresh_us = refresh_us;
        meta.pfc.last_port = last_port;
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

    // One action, because BMv2 locks its registers: egress may run at once.
    action hold() {
        pfc_held_bytes.read(held, place);
        pfc_headroom_bytes.read(headroom, place);
        pfc_shared_bytes.read(shared, 0);
        xoff_bytes = ((bit<64>) (meta.pfc.shareable_bytes |-| shared) * (bit<64>) meta.pfc.alpha_q8) >> 8;
        new_shared = (held + meta.accounted_bytes) |-| meta.pfc.reserve_bytes;
        to_headroom = (bit<64>) new_shared > xoff_bytes ? meta.accounted_bytes : 0;
        to_held = meta.accounted_bytes - to_headroom;
        shared = shared + (to_headroom != 0 ? 0 : new_shared - (held |-| meta.pfc.reserve_bytes));
        held = held + to_held;
        headroom = headroom + to_headroom;
        xoff_bytes = ((bit<64>) (meta.pfc.shareable_bytes |-| shared) * (bit<64>) meta.pfc.alpha_q8) >> 8;
        pfc_held_bytes.write(place, held);
        pfc_headroom_bytes.write(place, headroom);
        pfc_shared_bytes.write(0, shared);
        pfc_is_paused.read(is_paused, place);
    }

    apply {
        if (pfc.apply().hit) {
            place = (bit<32>) (std.ingress_port ++ meta.traffic_class);
            hold();
            if (is_paused == 0 && (headroom != 0 || (bit<64>) (held |-| meta.pfc.reserve_bytes) >= xoff_bytes)) {
                pfc_is_paused.write(place, 1);
                xoff.apply(meta, std.ingress_port, meta.now_us, PFC_MAX_QUANTA, pfc_event_t.xoff);
            }
            refresh.apply(meta, meta.now_us);
        }
    }
}

control PfcDequeue(inout metadata_t meta, in standard_metadata_t std) {
    PfcSignal() xon;
    PfcRefresh() refresh;
    bit<32> place = 0;
    bytes_t held = 0;
    bytes_t headroom = 0;
    bytes_t shared = 0;
    bytes_t from_headroom = 0;
    bytes_t from_held = 0;
    bytes_t new_held = 0;
    bytes_t own_shared = 0;
    bytes_t missing = 0;
    bit<8> is_paused = 0;
    bit<64> xoff_bytes = 0;

    action release() {
        pfc_held_bytes.read(held, place);
        pfc_headroom_bytes.read(headroom, place);
        pfc_shared_bytes.read(shared, 0);
        missing = meta.accounted_bytes |-| (held + headroom);
        from_headroom = headroom < meta.accounted_bytes ? headroom : meta.accounted_bytes;
        from_held = meta.accounted_bytes - from_headroom;
        new_held = held |-| from_held;
        shared = shared |-| ((held |-| meta.pfc.reserve_bytes) - (new_held |-| meta.pfc.reserve_bytes));
        own_shared = new_held |-| meta.pfc.reserve_bytes;
        headroom = headroom - from_headroom;
        xoff_bytes = ((bit<64>) (meta.pfc.shareable_bytes |-| shared) * (bit<64>) meta.pfc.alpha_q8) >> 8;
        pfc_held_bytes.write(place, new_held);
        pfc_headroom_bytes.write(place, headroom);
        pfc_shared_bytes.write(0, shared);
        pfc_is_paused.read(is_paused, place);
    }

    apply {
        if (meta.pfc.is_lossless == 1) {
            place = (bit<32>) (std.ingress_port ++ meta.traffic_class);
            release();
            if (missing != 0) {  // as in QueueLeave: wrapped bytes would pause the neighbour for ever
                queue_events.count((bit<32>) (bit<EVENT_BITS>) queue_event_t.pfc_underflow);
            }
            if (is_paused == 1 && headroom == 0
                && (own_shared == 0 || (bit<64>) own_shared + (bit<64>) meta.pfc.xon_offset_bytes <= xoff_bytes)) {
                pfc_is_paused.write(place, 0);
                xon.apply(meta, std.ingress_port, std.egress_global_timestamp, 0, pfc_event_t.xon);
            }
            refresh.apply(meta, std.egress_global_timestamp);
        }
    }
}

#endif
