// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// The headers of a BTS. No table and no extern, so that any target can run it (vectors.p4). The chip writes a container from
// one source in a step, so constants, fields of the packet, those of its copy, and the pause have a step each.
#ifndef SFC_T2_BTS_HEADERS_P4
#define SFC_T2_BTS_HEADERS_P4

control BtsHeaders(inout t2_headers_t hdr, in egress_metadata_t meta, in bytes_t depth_bytes) {
    ipv4_address_t congested = 0;
    mac_address_t this_switch = 0;
    bit<8> protocol = 0;
    dscp_t flow_dscp = 0;

    action keep() {
        congested = hdr.ipv4.dst_addr;
        this_switch = hdr.ethernet.dst_addr;
        protocol = hdr.ipv4.protocol;
        flow_dscp = hdr.ipv4.dscp;
    }

    action address_to_sender() {
        hdr.ethernet.dst_addr = hdr.ethernet.src_addr;
        hdr.ipv4.dst_addr = hdr.ipv4.src_addr;
    }

    action address_from_destination() {
        hdr.ethernet.src_addr = this_switch;
        hdr.ipv4.src_addr = congested;
    }

    action set_ipv4() {
        hdr.ipv4.dscp = BTS_DSCP;
        hdr.ipv4.ecn = 0;
        hdr.ipv4.total_len = BTS_IPV4_BYTES;
        hdr.ipv4.flags = IPV4_DONT_FRAGMENT;
        hdr.ipv4.fragment_offset = 0;
        hdr.ipv4.ttl = BTS_TTL;
    }

    action identify() {
        hdr.ipv4.identification = hdr.mirror.triggered;
    }

    action set_bts() {
        hdr.bts.setValid();
        hdr.bts.version = BTS_VERSION;
        hdr.bts.reserved = 0;
        hdr.bts.flow_dscp = 0;
        hdr.bts.pause = 0;
        hdr.bts.reserved2 = 0;
        hdr.bts.cacheable = 0;
        hdr.bts.cause = bts_cause_t.none;
        hdr.bts.destination_qp = 0;
        hdr.ipv4.protocol = PROTOCOL_UDP;
        hdr.udp.setValid();
        hdr.udp.dst_port = BTS_UDP_PORT;
        hdr.udp.length = BTS_UDP_BYTES;
        hdr.udp.checksum = 0;
    }

    action store_flow() {
        hdr.bts.flow_dscp = flow_dscp;
        hdr.bts.flow_protocol = protocol;
        hdr.bts.flow_dst_port = meta.l4_dst_port;
        hdr.udp.src_port = meta.l4_src_port;
    }

    action store_queue() {
        hdr.bts.cause = hdr.mirror.cause;
        hdr.bts.traffic_class = hdr.mirror.traffic_class;
        hdr.bts.queue_depth_bytes = depth_bytes;
        hdr.bts.switch_id = hdr.mirror.switch_id;
    }

    action store_pause() {
        hdr.bts.pause = meta.pause_us;
        hdr.bts.cacheable = meta.is_server_facing;
    }

    action store_queue_pair() {
        hdr.bts.destination_qp = hdr.bth.destination_qp;
        hdr.bth.setInvalid();
    }

    // No segment of TCP has no flag, so a kernel discards the signal without an answer.
    action set_tcp_signal() {
        hdr.tcp.sequence_high = 0;
        hdr.tcp.sequence_low = 0;
        hdr.tcp.data_offset = TCP_HEADER_WORDS;
        hdr.tcp.reserved = TCP_SIGNAL;
        hdr.tcp.flags = 0;
        hdr.tcp.window = 0;
        hdr.tcp.checksum = 0;
        hdr.tcp.urgent = 0;
        hdr.tcp_bts.setValid();
        hdr.tcp_bts.reserved = 0;
        hdr.tcp_bts.flow_dscp = 0;
        hdr.tcp_bts.reserved2 = 0;
        hdr.tcp_bts.cacheable = 0;
        hdr.tcp_bts.cause = bts_cause_t.none;
        hdr.tcp_bts.reserved3 = 0;
    }

    action store_tcp_flow() {
        hdr.tcp.src_port = meta.l4_dst_port;
        hdr.tcp.dst_port = meta.l4_src_port;
        hdr.tcp_bts.flow_dscp = flow_dscp;
    }

    action store_tcp_queue() {
        hdr.tcp.acknowledgment = depth_bytes;
        hdr.tcp_bts.cause = hdr.mirror.cause;
        hdr.tcp_bts.traffic_class = hdr.mirror.traffic_class;
        hdr.tcp_bts.switch_id = hdr.mirror.switch_id;
    }

    action store_tcp_pause() {
        hdr.tcp.sequence_low = meta.pause_us;
        hdr.tcp_bts.cacheable = meta.is_server_facing;
    }

    apply {
        keep();
        address_to_sender();
        address_from_destination();
        set_ipv4();
        identify();
        if (hdr.tcp.isValid()) {
            set_tcp_signal();
            store_tcp_flow();
            store_tcp_queue();
            store_tcp_pause();
        } else {
            set_bts();
            store_flow();
            store_queue();
            store_pause();
            if (hdr.bth.isValid()) {
                store_queue_pair();
            }
        }
    }
}

#endif
