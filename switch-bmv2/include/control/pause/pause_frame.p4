// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Construction of pause frames: 802.1Qbb for one class, and 802.3's extension for one queue of a class.
#ifndef SFC_PAUSE_FRAME_P4
#define SFC_PAUSE_FRAME_P4

// Turns any packet into a MAC control frame without fields.
control MacControlFrame(inout headers_t hdr, in mac_address_t source, in bit<16> opcode) {
    NoTelemetry() no_telemetry;

    action set_frame() {
        hdr.ethernet.dst_addr = PAUSE_ADDRESS;
        hdr.ethernet.src_addr = source;
        hdr.ethernet.ether_type = ETHERTYPE_MAC_CONTROL;
        hdr.mac_control.setValid();
        hdr.mac_control.opcode = opcode;
    }

    action drop_other_headers() {
        hdr.ipv4.setInvalid();
        hdr.udp.setInvalid();
        hdr.tcp.setInvalid();
        hdr.tcp_bts.setInvalid();
        hdr.icmp.setInvalid();
        hdr.bth.setInvalid();
        hdr.bts.setInvalid();
    }

    apply {
        set_frame();
        drop_other_headers();
        no_telemetry.apply(hdr);
    }
}

// Turns any packet into a pause frame.
control PauseFrame(inout headers_t hdr, in mac_address_t source, in traffic_class_t traffic_class, in bit<16> quanta) {
    const bool has_all_classes = static_assert(CLASS_BITS == 3, "a pause frame has eight quanta");
    MacControlFrame() frame;

    action set_fields() {
        hdr.pfc.setValid();
        hdr.pfc.reserved = 0;
        hdr.pfc.enabled_classes = 8w1 << (bit<8>) traffic_class;
        hdr.pfc.quanta_0 = 0;
        hdr.pfc.quanta_1 = 0;
        hdr.pfc.quanta_2 = 0;
        hdr.pfc.quanta_3 = 0;
        hdr.pfc.quanta_4 = 0;
        hdr.pfc.quanta_5 = 0;
        hdr.pfc.quanta_6 = 0;
        hdr.pfc.quanta_7 = 0;
        hdr.pfc.padding = 0;
    }

    apply {
        frame.apply(hdr, source, PFC_OPCODE);
        set_fields();
        if (traffic_class == 0) { hdr.pfc.quanta_0 = quanta; }
        if (traffic_class == 1) { hdr.pfc.quanta_1 = quanta; }
        if (traffic_class == 2) { hdr.pfc.quanta_2 = quanta; }
        if (traffic_class == 3) { hdr.pfc.quanta_3 = quanta; }
        if (traffic_class == 4) { hdr.pfc.quanta_4 = quanta; }
        if (traffic_class == 5) { hdr.pfc.quanta_5 = quanta; }
        if (traffic_class == 6) { hdr.pfc.quanta_6 = quanta; }
        if (traffic_class == 7) { hdr.pfc.quanta_7 = quanta; }
    }
}

// Turns any packet into a frame that pauses one queue of a class, or resumes it with 0 quanta.
control QueuePauseFrame(inout headers_t hdr, in mac_address_t source, in traffic_class_t traffic_class,
                        in upstream_queue_t queue, in bit<16> quanta) {
    MacControlFrame() frame;

    action set_fields() {
        hdr.queue_pause.setValid();
        hdr.queue_pause.organization = QUEUE_PAUSE_ORGANIZATION;
        hdr.queue_pause.traffic_class = (bit<8>) traffic_class;
        hdr.queue_pause.queue = (bit<8>) queue;
        hdr.queue_pause.quanta = quanta;
        hdr.queue_pause.padding = 0;
    }

    apply {
        frame.apply(hdr, source, EXTENSION_OPCODE);
        set_fields();
    }
}

// Turns a mirror copy into the pause frame that meta.signal describes.
control PauseBuilder(inout headers_t hdr, inout metadata_t meta) {
    PauseFrame() frame;
    QueuePauseFrame() queue_frame;
    mac_address_t source = 0;
    bit<64> units = 0;

    action port_address(mac_address_t address) {
        source = address;
    }

    // A resume frame for a later time is a pause until then, in units of QUEUE_PAUSE_QUANTA quanta.
    action remaining_pause(bit<32> units_per_us_q24) {
        units = (bit<64>) meta.bfc.wait_us * (bit<64>) units_per_us_q24 >> 24;
        meta.signal.pause_quanta = units > (bit<64>) PFC_MAX_QUANTA ? PFC_MAX_QUANTA : (bit<16>) units;
    }

    table pause_source {
        key = { meta.signal.pause_port: exact @name("port"); }
        actions = { port_address; }
        default_action = port_address(0);
        size = PORTS;
    }

    table bfc_upstream {
        key = { meta.signal.pause_port: exact @name("port"); }
        actions = { remaining_pause; }
        default_action = remaining_pause(0);
        size = PORTS;
    }

    apply {
        pause_source.apply();
        meta.frame_port = meta.signal.pause_port;
        if (meta.signal.names_queue == 1) {
            if (meta.signal.pause_quanta == 0) {
                bfc_upstream.apply();
            }
            queue_frame.apply(hdr, source, meta.signal.pause_class, meta.signal.pause_queue, meta.signal.pause_quanta);
        } else {
            frame.apply(hdr, source, meta.signal.pause_class, meta.signal.pause_quanta);
        }
    }
}

#endif
