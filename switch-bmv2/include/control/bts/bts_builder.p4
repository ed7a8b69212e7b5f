// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Turns a mirror copy into a BTS (paper section 3.2, A.5 and A.6; Algorithm 1, lines 15 to 20): swaps the addresses, computes
// the pause from the congested queue's current depth, and stores the flow. A TCP packet becomes a TCP packet with the pause, as
// in the prototype. All other packets become a UDP packet.
#ifndef SFC_BTS_BUILDER_P4
#define SFC_BTS_BUILDER_P4

control BtsBuilder(inout headers_t hdr, inout metadata_t meta, out duration_us_t pause_us) {
    NoTelemetry() no_telemetry;
    DepartureRead() departure_read;
    PauseTime() pause_time;
    PauseByShift() pause_by_shift;
    ModelPause() model_pause;
    bytes_t depth_bytes = 0;
    bytes_t excess_bytes = 0;
    bit<32> us_per_byte_q24 = 0;
    bit<8> group_shift = 0;
    bit<32> model_us = 0;
    bit<1> is_server_facing = 0;
    bit<16> stamp = 0;

    // The transmission time of a byte on a port, in 2^-24 microseconds.
    action port_speed(bit<32> byte_us_q24, bit<1> server_facing) {
        us_per_byte_q24 = byte_us_q24;
        is_server_facing = server_facing;
    }

    // The prototype's divisor of a port's rate for eight cells, and a microsecond of the model.
    action port_shift(bit<8> shift, bit<32> us_per_model_us, bit<1> server_facing) {
        group_shift = shift;
        model_us = us_per_model_us;
        is_server_facing = server_facing;
    }

    table congested_port {
        key = { meta.bts.port: exact @name("port"); }
        actions = { port_speed; port_shift; }
        default_action = port_speed(0, 0);
        size = PORTS;
    }

    action read_depth() {
        queue_bytes.read(depth_bytes, (bit<32>) (meta.bts.port ++ meta.bts.traffic_class));
    }

    action count_ticks(bit<8> tick_bits) {
        stamp = (bit<16>) (meta.bts.triggered_us >> tick_bits);
    }

    action count_microseconds() {
        stamp = (bit<16>) meta.bts.triggered_us;
    }

    // The unit of the time at which the data packet arrived, 2^tick_bits microseconds.
    table time_stamp {
        actions = { @defaultonly count_ticks; @defaultonly count_microseconds; }
        default_action = count_microseconds();
    }

    action set_bts() {
        hdr.bts.setValid();
        hdr.bts.version = BTS_VERSION;
        hdr.bts.reserved = 0;
        hdr.bts.cacheable = is_server_facing;
        hdr.bts.cause = meta.bts.cause;
        hdr.bts.flow_protocol = hdr.ipv4.protocol;
        hdr.bts.flow_dscp = hdr.ipv4.dscp;
        hdr.bts.reserved2 = 0;
        hdr.bts.pause = (bit<16>) pause_us;
        hdr.bts.flow_dst_port = meta.l4_dst_port;
        hdr.bts.traffic_class = (bit<8>) meta.bts.traffic_class;
        hdr.bts.queue_depth_bytes = depth_bytes;
        hdr.bts.switch_id = meta.bts.switch_id;
    }

    // For a sample of a congestion point, the pause field holds the feedback. For Bolt it holds the time in which the queue
    // drained when the data packet arrived, in units of 4 ns of the model.
    action write_feedback() {
        pause_us = meta.bts.cached_us;
        hdr.bts.pause = (bit<16>) meta.bts.cached_us;
        hdr.bts.cacheable = 0;
    }

    action address_to_sender() {
        ipv4_address_t congested = hdr.ipv4.dst_addr;
        mac_address_t this_switch = hdr.ethernet.dst_addr;
        hdr.ethernet.dst_addr = hdr.ethernet.src_addr;
        hdr.ethernet.src_addr = this_switch;
        hdr.ipv4.dst_addr = hdr.ipv4.src_addr;
        hdr.ipv4.src_addr = congested;
        hdr.ipv4.dscp = BTS_DSCP;
        hdr.ipv4.ecn = 0;
        hdr.ipv4.total_len = BTS_IPV4_BYTES;
        hdr.ipv4.identification = stamp;
        hdr.ipv4.flags = IPV4_DONT_FRAGMENT;
        hdr.ipv4.fragment_offset = 0;
        hdr.ipv4.ttl = BTS_TTL;
    }

    // No segment of TCP has no flag, so a kernel discards the signal without an answer.
    action set_tcp_signal() {
        hdr.tcp.src_port = meta.l4_dst_port;
        hdr.tcp.dst_port = meta.l4_src_port;
        hdr.tcp.sequence_high = 0;
        hdr.tcp.sequence_low = (bit<16>) pause_us;
        hdr.tcp.acknowledgment = depth_bytes;
        hdr.tcp.data_offset = TCP_HEADER_WORDS;
        hdr.tcp.reserved = TCP_SIGNAL;
        hdr.tcp.flags = 0;
        hdr.tcp.window = 0;
        hdr.tcp.checksum = 0;
        hdr.tcp.urgent = 0;
        hdr.tcp_bts.setValid();
        hdr.tcp_bts.reserved = 0;
        hdr.tcp_bts.flow_dscp = hdr.ipv4.dscp;
        hdr.tcp_bts.reserved2 = 0;
        hdr.tcp_bts.cacheable = is_server_facing;
        hdr.tcp_bts.cause = meta.bts.cause;
        hdr.tcp_bts.traffic_class = (bit<8>) meta.bts.traffic_class;
        hdr.tcp_bts.reserved3 = 0;
        hdr.tcp_bts.switch_id = meta.bts.switch_id;
    }

    action encapsulate() {
        hdr.ipv4.protocol = PROTOCOL_UDP;
        hdr.udp.setValid();
        hdr.udp.src_port = meta.l4_src_port;
        hdr.udp.dst_port = BTS_UDP_PORT;
        hdr.udp.length = BTS_UDP_BYTES;
        hdr.udp.checksum = 0;
        hdr.icmp.setInvalid();
    }

    // The PSN in the quoted header tells the sender when it sent the packet.
    action quote_bth() {
        hdr.ipv4.total_len = SUB_RTT_IPV4_BYTES;
        hdr.udp.length = SUB_RTT_UDP_BYTES;
    }

    apply {
        congested_port.apply();
        if (meta.bts.is_depth_noted == 1) {
            departure_read.apply(meta, excess_bytes);
            depth_bytes = excess_bytes + meta.bts.q_tg_bytes;
        } else {
            read_depth();
            excess_bytes = depth_bytes |-| meta.bts.q_tg_bytes;
        }
        if (model_us == 0) {
            pause_time.apply(excess_bytes, us_per_byte_q24, pause_us);
        } else {
            pause_by_shift.apply(excess_bytes, group_shift, model_us, pause_us);
        }
        if (meta.bts.cached_us > pause_us) {
            pause_us = meta.bts.cached_us;
        }
        model_pause.apply(pause_us);
        time_stamp.apply();
        if (hdr.tcp.isValid()) {
            // Feedback and requests of Bolt are for RoCEv2 only.
            set_tcp_signal();
        } else {
            set_bts();
            if (meta.bts.cause == bts_cause_t.feedback || meta.bts.cause == bts_cause_t.sub_rtt) {
                write_feedback();
            }
            if (hdr.bth.isValid()) {
                hdr.bts.destination_qp = hdr.bth.destination_qp;
            } else {
                hdr.bts.destination_qp = 0;
            }
            encapsulate();
        }
        address_to_sender();
        if (meta.bts.cause == bts_cause_t.sub_rtt) {
            quote_bth();
        } else {
            hdr.bth.setInvalid();
        }
        no_telemetry.apply(hdr);
    }
}

#endif
