// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// The controls of sfc_t2na.p4 that use nothing of the chip, for v1model: a frame of an experimental EtherType carries their
// inputs, and comes back on its port with their results. tests/switch_tofino2 compares them with the testbed's own.
#include <core.p4>
#include <v1model.p4>

#include "../switch-bmv2/include/constants.p4"
#include "../switch-bmv2/include/headers.p4"
#include "include/sizes.p4"
typedef bit<8> MirrorId_t;

bit<32> max(in bit<32> a, in bit<32> b) {
    return a > b ? a : b;
}

#include "include/metadata.p4"
#include "include/control/bts/pause_time.p4"
#include "include/control/bts/incast_estimator.p4"
#include "include/control/bts/bts_cause.p4"
#include "include/control/bts/bts_headers.p4"
#include "include/control/pause/pause_frame.p4"

const bit<16> ETHERTYPE_NUMBERS = 0x88b5;  // inputs of the calculations, then their results
const bit<16> ETHERTYPE_FRAMES = 0x88b6;   // inputs of a BTS or pause frame, and the frame that becomes it

header numbers_h {
    cells_t excess_cells;
    cells_t depth_cells;
    bit<8> rate;
    bit<32> bts_pause_us;
    cells_t over_cells;
    bit<16> stale;
    bit<32> cached_us;
    bit<32> estimate_us;
    bytes_t packet_bytes;
    bit<32> pause_us;
    bytes_t depth_bytes;
    ticks_t ticks;
    bit<8> cause;
    bit<32> longest_us;
    cells_t length_q8;
}

header inputs_h {
    bit<8> wants_pause_frame;
    bit<8> classes;
    bit<16> quanta;
    mac_address_t source;
    bit<16> pause_us;
    bit<8> is_server_facing;
    bytes_t depth_bytes;
}

struct vector_headers_t {
    ethernet_h outer;
    numbers_h numbers;
    inputs_h inputs;
    t2_headers_t inner;
}

parser VectorParser(packet_in packet, out vector_headers_t hdr, inout egress_metadata_t meta,
                    inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.outer);
        transition select(hdr.outer.ether_type) {
            ETHERTYPE_NUMBERS: parse_numbers;
            ETHERTYPE_FRAMES: parse_inputs;
            default: accept;
        }
    }

    state parse_numbers {
        packet.extract(hdr.numbers);
        transition accept;
    }

    state parse_inputs {
        packet.extract(hdr.inputs);
        packet.extract(hdr.inner.mirror);
        packet.extract(hdr.inner.ethernet);
        packet.extract(hdr.inner.ipv4);
        transition select(hdr.inner.ipv4.protocol) {
            PROTOCOL_UDP: parse_udp;
            PROTOCOL_TCP: parse_tcp;
            default: accept;
        }
    }

    state parse_udp {
        packet.extract(hdr.inner.udp);
        meta.l4_src_port = hdr.inner.udp.src_port;
        meta.l4_dst_port = hdr.inner.udp.dst_port;
        transition select(hdr.inner.udp.dst_port) {
            ROCE_UDP_PORT: parse_bth;
            default: accept;
        }
    }

    state parse_tcp {
        packet.extract(hdr.inner.tcp);
        meta.l4_src_port = hdr.inner.tcp.src_port;
        meta.l4_dst_port = hdr.inner.tcp.dst_port;
        transition accept;
    }

    state parse_bth {
        packet.extract(hdr.inner.bth);
        transition accept;
    }
}

control VectorIngress(inout vector_headers_t hdr, inout egress_metadata_t meta, inout standard_metadata_t std) {
    PauseTime() pause_time;
    DepthBytes() in_bytes;
    PauseTicks() in_ticks;
    PacketLength() length;
    BtsCause() find_cause;
    ingress_metadata_t at_ingress;
    BtsHeaders() bts_headers;
    PauseFrame() pause_frame;

    apply {
        std.egress_spec = std.ingress_port;
        if (hdr.numbers.isValid()) {
            pause_time.apply(hdr.numbers.excess_cells, (rate_code_t) hdr.numbers.rate, hdr.numbers.pause_us);
            in_bytes.apply(hdr.numbers.depth_cells, hdr.numbers.depth_bytes);
            in_ticks.apply(hdr.numbers.bts_pause_us, hdr.numbers.ticks);
            length.apply(hdr.numbers.packet_bytes, hdr.numbers.length_q8);
            at_ingress.mirror.setValid();
            at_ingress.cause = bts_cause_t.none;
            at_ingress.is_estimated = 0;
            at_ingress.over_cells = hdr.numbers.over_cells;
            at_ingress.stale = hdr.numbers.stale;
            at_ingress.cached_us = hdr.numbers.cached_us;
            at_ingress.estimate_us = hdr.numbers.estimate_us;
            find_cause.apply(at_ingress);
            hdr.numbers.cause = 4w0 ++ (bit<4>) at_ingress.cause;
            hdr.numbers.longest_us = at_ingress.mirror.longest_us;
        } else if (hdr.inputs.isValid()) {
            hdr.outer.setInvalid();
            if (hdr.inputs.wants_pause_frame == 1) {
                pause_frame.apply(hdr.inner, hdr.inputs.source, hdr.inputs.classes, hdr.inputs.quanta);
                truncate(PFC_FRAME_BYTES);
            } else {
                meta.pause_us = hdr.inputs.pause_us;
                meta.is_server_facing = (bit<1>) hdr.inputs.is_server_facing;
                bts_headers.apply(hdr.inner, meta, hdr.inputs.depth_bytes);
                truncate(BTS_FRAME_BYTES);
            }
        }
    }
}

control VectorEgress(inout vector_headers_t hdr, inout egress_metadata_t meta, inout standard_metadata_t std) {
    apply { }
}

control VectorVerify(inout vector_headers_t hdr, inout egress_metadata_t meta) {
    apply { }
}

control VectorChecksum(inout vector_headers_t hdr, inout egress_metadata_t meta) {
    apply {
        update_checksum(hdr.inner.ipv4.isValid(),
            { hdr.inner.ipv4.version, hdr.inner.ipv4.ihl, hdr.inner.ipv4.dscp, hdr.inner.ipv4.ecn,
              hdr.inner.ipv4.total_len, hdr.inner.ipv4.identification, hdr.inner.ipv4.flags,
              hdr.inner.ipv4.fragment_offset, hdr.inner.ipv4.ttl, hdr.inner.ipv4.protocol, hdr.inner.ipv4.src_addr,
              hdr.inner.ipv4.dst_addr },
            hdr.inner.ipv4.header_checksum, HashAlgorithm.csum16);
    }
}

control VectorDeparser(packet_out packet, in vector_headers_t hdr) {
    apply {
        packet.emit(hdr.outer);
        packet.emit(hdr.numbers);
        packet.emit(hdr.inner.ethernet);
        packet.emit(hdr.inner.mac_control);
        packet.emit(hdr.inner.pfc);
        packet.emit(hdr.inner.ipv4);
        packet.emit(hdr.inner.udp);
        packet.emit(hdr.inner.tcp);
        packet.emit(hdr.inner.tcp_bts);
        packet.emit(hdr.inner.bts);
        packet.emit(hdr.inner.bth);
    }
}

V1Switch(VectorParser(), VectorVerify(), VectorIngress(), VectorEgress(), VectorChecksum(), VectorDeparser()) main;
