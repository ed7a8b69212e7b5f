// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// SFC-P (paper section 4): the sender-side ToR turns a BTS for one of its servers into an 802.1Qbb frame for the class, so
// that existing NICs obey. A pause longer than 65535 quanta is clamped. If the server sends before the whole pause has
// ended, its first packet triggers a frame with the rest of the pause.
#ifndef SFC_SFC_P_P4
#define SFC_SFC_P_P4

// End of the pause of a server's class, and end of the pause in the last frame. Index: port ++ class.
register<time_us_t>(QUEUES) server_pause_end_us;
register<time_us_t>(QUEUES) server_frame_end_us;

// Converts a pause to quanta of a port, rounded up and clamped. Quanta per microsecond are 0 if SFC-P is off.
control PauseQuanta(in duration_us_t pause_us, in bit<32> quanta_per_us_q24, out bit<16> quanta) {
    bit<64> wanted = 0;

    apply {
        wanted = ((bit<64>) pause_us * (bit<64>) quanta_per_us_q24 + 0xffffff) >> 24;
        quanta = PFC_MAX_QUANTA;
        if (wanted < (bit<64>) PFC_MAX_QUANTA) {
            quanta = (bit<16>) wanted;
        }
    }
}

// The prototype's conversion: a factor of the port's rate, exact for whole microseconds of the model, and the most quanta for
// every pause of at least `overflow_us`.
control FactorQuanta(in duration_us_t pause_us, in bit<64> quanta_per_us_q32, in duration_us_t overflow_us,
                     out bit<16> quanta) {
    apply {
        quanta = PFC_MAX_QUANTA;
        if (pause_us < overflow_us) {
            quanta = (bit<16>) (((bit<64>) pause_us * quanta_per_us_q32 + 64w0x80000000) >> 32);
        }
    }
}

control SfcP(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    PauseQuanta() quanta_of_bts;
    PauseQuanta() quanta_of_rest;
    FactorQuanta() factor_quanta;
    duration_us_t overflow_us = 0;
    PauseFrame() frame;
    bit<32> quanta_per_us_q24 = 0;
    bit<64> quanta_per_us_q32 = 0;
    duration_us_t longest_us = 0;
    mac_address_t source = 0;
    bit<16> quanta = 0;
    bit<32> place = 0;
    duration_us_t pause_us = 0;
    time_us_t pause_end_us = 0;
    time_us_t frame_end_us = 0;
    traffic_class_t paused_class = 0;

    // `longest` is the time of 65535 quanta on this port.
    action pause_server(bit<32> per_us_q24, duration_us_t longest, mac_address_t port_address) {
        quanta_per_us_q24 = per_us_q24;
        longest_us = longest;
        source = port_address;
    }

    // A pause that overflows is not continued: the frame ends, as far as this switch knows, with the pause.
    action pause_server_by_factor(bit<64> per_us_q32, duration_us_t overflow, mac_address_t port_address) {
        quanta_per_us_q32 = per_us_q32;
        overflow_us = overflow;
        longest_us = LONGEST_US;
        source = port_address;
    }

    action no_conversion() {
        quanta_per_us_q24 = 0;
    }

    // The port towards the server: a BTS leaves through it, a data packet arrives on it.
    port_t server_port = 0;

    table sfc_p {
        key = { server_port: exact @name("port"); }
        actions = { pause_server; pause_server_by_factor; @defaultonly no_conversion; }
        const default_action = no_conversion();
        size = PORTS;
    }

    action pause_class(traffic_class_t traffic_class) {
        paused_class = traffic_class;
    }

    // The class of the flow that a BTS names. A BTS of the SFC prototype has no other field from which it could come.
    table flow_class {
        key = { hdr.bts.flow_dscp: exact @name("dscp"); }
        actions = { pause_class; }
        default_action = pause_class(0);
        size = DSCPS;
    }

    action remember() {
        server_pause_end_us.write(place, pause_end_us);
        server_frame_end_us.write(place, frame_end_us);
    }

    apply {
        if (hdr.bts.isValid()) {
            server_port = std.egress_spec;
            flow_class.apply();
            pause_end_us = meta.now_us + wall_pause(hdr.bts.pause, meta.dilation);
            pause_us = as_duration(pause_end_us - meta.now_us);
        } else {
            server_port = std.ingress_port;
            paused_class = meta.traffic_class;
        }
        if (sfc_p.apply().hit) {
            place = (bit<32>) (server_port ++ paused_class);
            if (hdr.bts.isValid()) {
                if (overflow_us == 0) {
                    quanta_of_bts.apply(pause_us, quanta_per_us_q24, quanta);
                } else {
                    factor_quanta.apply(pause_us, quanta_per_us_q32, overflow_us, quanta);
                }
                frame.apply(hdr, source, paused_class, quanta);
                truncate(PFC_FRAME_BYTES);
                meta.accounted_bytes = PFC_FRAME_BYTES;
                pfc_events.count((bit<32>) (bit<EVENT_BITS>) pfc_event_t.sfc_p);
            } else {
                server_pause_end_us.read(pause_end_us, place);
                server_frame_end_us.read(frame_end_us, place);
                if (pause_end_us > frame_end_us && meta.now_us >= frame_end_us
                    && pause_end_us > meta.now_us) {
                    pause_us = as_duration(pause_end_us - meta.now_us);
                    quanta_of_rest.apply(pause_us, quanta_per_us_q24, quanta);
                    meta.signal.wants_pause = 1;
                    meta.signal.pause_port = server_port;
                    meta.signal.pause_class = paused_class;
                    meta.signal.pause_quanta = quanta;
                    pfc_events.count((bit<32>) (bit<EVENT_BITS>) pfc_event_t.refresh);
                }
            }
            if (pause_us > 0) {
                if (pause_us > longest_us) {
                    pause_us = longest_us;
                }
                frame_end_us = meta.now_us + (time_us_t) pause_us;
                remember();
            }
        }
    }
}

#endif
