// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Parsers, checksums and deparsers. A frame with IPv4 options, a wrong version or checksum is dropped in ingress.
#ifndef SFC_T2_PARSER_P4
#define SFC_T2_PARSER_P4

parser SfcIngressParser(packet_in packet, out t2_headers_t hdr, out ingress_metadata_t meta,
                        out ingress_intrinsic_metadata_t ig) {
    Checksum() ipv4_checksum;

    state start {
        packet.extract(ig);
        packet.advance(PORT_METADATA_SIZE);
        meta.is_server_ingress = 0;
        meta.is_own_signal = 0;
        meta.is_dropped = 0;
        meta.is_watched = 0;
        meta.is_caching = 0;
        meta.is_estimated = 0;
        meta.has_checksum_error = 0;
        meta.l4_src_port = 0;
        meta.l4_dst_port = 0;
        meta.over_cells = 0;
        meta.is_learning = 0;
        meta.cached_us = 0;
        meta.stale = 0;
        meta.estimate_us = 0;
        meta.is_suppressing = 0;
        meta.cause = bts_cause_t.none;
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        ipv4_checksum.add(hdr.ipv4);
        meta.has_checksum_error = (bit<1>) ipv4_checksum.verify();
        // Only the first fragment contains the ports. Ingress drops what has another version or options.
        transition select(hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (4, 5, 0, PROTOCOL_UDP): parse_udp;
            (4, 5, 0, PROTOCOL_TCP): parse_tcp;
            default: accept;
        }
    }

    state parse_udp {
        packet.extract(hdr.udp);
        meta.l4_src_port = hdr.udp.src_port;
        meta.l4_dst_port = hdr.udp.dst_port;
        transition select(hdr.udp.dst_port) {
            ROCE_UDP_PORT: parse_bth;
            BTS_UDP_PORT: parse_bts;
            default: accept;
        }
    }

    // A signal is told by 64 bits of two headers; a state can match 32.
    state parse_tcp {
        transition select(hdr.ipv4.total_len) {
            BTS_IPV4_BYTES: match_tcp_flags;
            default: parse_other_tcp;
        }
    }

    state match_tcp_flags {
        tcp_h tcp = packet.lookahead<tcp_h>();
        transition select(tcp.data_offset, tcp.reserved, tcp.flags, tcp.sequence_high) {
            (TCP_HEADER_WORDS, TCP_SIGNAL, 0, 0): match_tcp_checksum;
            default: parse_other_tcp;
        }
    }

    state match_tcp_checksum {
        tcp_h tcp = packet.lookahead<tcp_h>();
        transition select(tcp.checksum) {
            0: parse_tcp_signal;
            default: parse_other_tcp;
        }
    }

    state parse_other_tcp {
        packet.extract(hdr.tcp);
        meta.l4_src_port = hdr.tcp.src_port;
        meta.l4_dst_port = hdr.tcp.dst_port;
        transition accept;
    }

    state parse_tcp_signal {
        packet.extract(hdr.tcp);
        meta.l4_src_port = hdr.tcp.src_port;
        meta.l4_dst_port = hdr.tcp.dst_port;
        transition parse_tcp_bts;
    }

    state parse_tcp_bts {
        packet.extract(hdr.tcp_bts);
        transition accept;
    }

    state parse_bth {
        packet.extract(hdr.bth);
        transition accept;
    }

    state parse_bts {
        packet.extract(hdr.bts);
        transition accept;
    }
}

control SfcIngressDeparser(packet_out packet, inout t2_headers_t hdr, in ingress_metadata_t meta,
                           in ingress_intrinsic_metadata_for_deparser_t ig_deparser) {
    Checksum() ipv4_checksum;
    Mirror(BTS_MIRROR) bts_copy;

    apply {
        if (ig_deparser.mirror_type == BTS_MIRROR) {
            bts_copy.emit<mirror_h>(meta.session, meta.mirror);
        }
        // The TTL has changed.
        hdr.ipv4.header_checksum = ipv4_checksum.update({
            hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len, hdr.ipv4.identification,
            hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr,
            hdr.ipv4.dst_addr });
        packet.emit(hdr);
    }
}

parser SfcEgressParser(packet_in packet, out t2_headers_t hdr, out egress_metadata_t meta,
                       out egress_intrinsic_metadata_t eg) {
    state start {
        packet.extract(eg);
        meta.is_copy = 0;
        meta.l4_src_port = 0;
        meta.l4_dst_port = 0;
        meta.pause_us = 0;
        meta.is_server_facing = 0;
        transition select(packet.lookahead<packet_kind_t>()) {
            packet_kind_t.copy_for_bts: parse_mirror;
            default: parse_bridged;
        }
    }

    state parse_bridged {
        packet.advance(8);
        transition parse_ethernet;
    }

    state parse_mirror {
        packet.extract(hdr.mirror);
        meta.is_copy = 1;
        transition parse_ethernet;
    }

    state parse_ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (5, 0, PROTOCOL_UDP): parse_udp;
            (5, 0, PROTOCOL_TCP): parse_tcp;
            default: accept;
        }
    }

    state parse_udp {
        packet.extract(hdr.udp);
        meta.l4_src_port = hdr.udp.src_port;
        meta.l4_dst_port = hdr.udp.dst_port;
        transition select(hdr.udp.dst_port) {
            ROCE_UDP_PORT: parse_bth;
            BTS_UDP_PORT: parse_bts;
            default: accept;
        }
    }

    state parse_tcp {
        packet.extract(hdr.tcp);
        meta.l4_src_port = hdr.tcp.src_port;
        meta.l4_dst_port = hdr.tcp.dst_port;
        transition accept;
    }

    state parse_bth {
        packet.extract(hdr.bth);
        transition accept;
    }

    state parse_bts {
        packet.extract(hdr.bts);
        transition accept;
    }
}

control SfcEgressDeparser(packet_out packet, inout t2_headers_t hdr, in egress_metadata_t meta,
                          in egress_intrinsic_metadata_for_deparser_t eg_deparser) {
    Checksum() ipv4_checksum;

    apply {
        hdr.ipv4.header_checksum = ipv4_checksum.update({
            hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len, hdr.ipv4.identification,
            hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr,
            hdr.ipv4.dst_addr });
        packet.emit(hdr.ethernet);
        packet.emit(hdr.mac_control);
        packet.emit(hdr.pfc);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.udp);
        packet.emit(hdr.tcp);
        packet.emit(hdr.tcp_bts);
        packet.emit(hdr.bts);
        packet.emit(hdr.bth);
    }
}

#endif
