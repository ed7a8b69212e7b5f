// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Parser, checksums and deparser. A frame that ends inside a header, has IPv4 options or has a wrong version sets a parser
// error. Ingress drops and counts such frames.
#ifndef SFC_PARSER_P4
#define SFC_PARSER_P4

#include "headers.p4"
#include "metadata.p4"

error {
    Ipv4Version,
    Ipv4Options,
    BtsVersion,
    IntHops
}

parser SfcParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            ETHERTYPE_MAC_CONTROL: parse_mac_control;
            default: accept;
        }
    }

    state parse_mac_control {
        packet.extract(hdr.mac_control);
        transition select(hdr.mac_control.opcode) {
            EXTENSION_OPCODE: parse_queue_pause;
            default: accept;
        }
    }

    state parse_queue_pause {
        packet.extract(hdr.queue_pause);
        transition accept;
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.version == 4, error.Ipv4Version);
        verify(hdr.ipv4.ihl == 5, error.Ipv4Options);
        // Only the first fragment contains the ports.
        transition select(hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (0, PROTOCOL_UDP): parse_udp;
            (0, PROTOCOL_TCP): parse_tcp;
            (0, PROTOCOL_ICMP): parse_icmp;
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
            INT_UDP_PORT: parse_int;
            default: accept;
        }
    }

    state parse_tcp {
        packet.extract(hdr.tcp);
        meta.l4_src_port = hdr.tcp.src_port;
        meta.l4_dst_port = hdr.tcp.dst_port;
        transition select(hdr.tcp.reserved, hdr.tcp.checksum, hdr.tcp.sequence_high, hdr.ipv4.total_len) {
            (TCP_SIGNAL, 0, 0, BTS_IPV4_BYTES): parse_tcp_signal;
            default: accept;
        }
    }

    // In ingress, the BTS header describes a TCP signal as well. The prototype's has neither cause nor DSCP of the flow.
    state parse_tcp_signal {
        hdr.bts.setValid();
        hdr.bts.pause = hdr.tcp.sequence_low;
        hdr.bts.cause = bts_cause_t.none;
        hdr.bts.cacheable = 0;
        hdr.bts.flow_dscp = 0;
        transition select(hdr.tcp.flags, hdr.tcp.data_offset) {
            (0, TCP_HEADER_WORDS): parse_tcp_bts;
            default: accept;
        }
    }

    state parse_tcp_bts {
        packet.extract(hdr.tcp_bts);
        hdr.bts.cause = hdr.tcp_bts.cause;
        hdr.bts.cacheable = hdr.tcp_bts.cacheable;
        hdr.bts.flow_dscp = hdr.tcp_bts.flow_dscp;
        transition accept;
    }

    state parse_icmp {
        packet.extract(hdr.icmp);
        transition accept;
    }

    state parse_int {
        packet.extract(hdr.telemetry);
        verify(hdr.telemetry.hops <= INT_MAX_HOPS, error.IntHops);
        meta.int_hops_left = hdr.telemetry.hops;
        transition select(hdr.telemetry.flags) {
            INT_COMPACT &&& INT_COMPACT: parse_int_slots;
            default: parse_int_records;
        }
    }

    state parse_int_slots {
        packet.extract(hdr.slots);
        transition select(hdr.telemetry.flags) {
            INT_STAMP &&& INT_STAMP: parse_int_stamp;
            default: parse_bth;
        }
    }

    state parse_int_stamp {
        packet.extract(hdr.hop.next);
        transition parse_bth;
    }

    state parse_int_records {
        transition select(meta.int_hops_left) {
            0: parse_bth;
            default: parse_int_record;
        }
    }

    state parse_int_record {
        packet.extract(hdr.hop.next);
        meta.int_hops_left = meta.int_hops_left - 1;
        transition parse_int_records;
    }

    state parse_bth {
        packet.extract(hdr.bth);
        transition accept;
    }

    state parse_bts {
        packet.extract(hdr.bts);
        verify(hdr.bts.version == BTS_VERSION, error.BtsVersion);
        transition accept;
    }
}

control SfcVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len, hdr.ipv4.identification,
              hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr,
              hdr.ipv4.dst_addr },
            hdr.ipv4.header_checksum, HashAlgorithm.csum16);
    }
}

control SfcComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len, hdr.ipv4.identification,
              hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr,
              hdr.ipv4.dst_addr },
            hdr.ipv4.header_checksum, HashAlgorithm.csum16);
    }
}

control SfcDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.mac_control);
        packet.emit(hdr.pfc);
        packet.emit(hdr.queue_pause);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.udp);
        packet.emit(hdr.tcp);
        packet.emit(hdr.tcp_bts);
        packet.emit(hdr.icmp);
        packet.emit(hdr.telemetry);
        packet.emit(hdr.slots);
        packet.emit(hdr.hop);
        packet.emit(hdr.bts);
        packet.emit(hdr.bth);
    }
}

#endif
