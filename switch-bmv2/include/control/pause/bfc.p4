// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Pauses of Backpressure Flow Control (NSDI 2022, docs/sources.md#bfc). A packet that finds its queue above
// Th = hop RTT x rate / active queues requires a pause of the queue that held it at the previous hop, its upstream queue, as
// long as it is in this switch. Such packets are counted for each upstream queue: the first one causes a pause frame, the last
// one that leaves a resume frame. A packet that is the only one of its flow in this switch never requires a pause.
//
// The upstream queue is in the second byte of the Ethernet source address, which every hop sets (docs/wire-format.md). A pause
// lasts at most 65535 units of 64 quanta, so it is refreshed as long as needed, as with PFC.
#ifndef SFC_BFC_P4
#define SFC_BFC_P4

// Packets in this switch that require a pause. Index: ingress port ++ upstream queue.
register<bit<32>>(UPSTREAM_QUEUES) bfc_pause_packets;

// Time of the last pause frame, in microseconds of the switch's clock. Index: ingress port ++ upstream queue.
register<time_us_t>(UPSTREAM_QUEUES) bfc_sent_us;

control BfcSignal(inout metadata_t meta, in port_t port, in time_us_t now_us, in bit<16> quanta, in bfc_event_t event) {
    apply {
        meta.signal.wants_pause = 1;
        meta.signal.names_queue = 1;
        meta.signal.pause_port = port;
        meta.signal.pause_class = meta.traffic_class;
        meta.signal.pause_queue = meta.bfc.upstream;
        meta.signal.pause_quanta = quanta;
        bfc_sent_us.write((bit<32>) (port ++ meta.bfc.upstream), now_us);
        bfc_events.count((bit<32>) (bit<EVENT_BITS>) event);
    }
}

// Notes a pause or resume frame of the next hop. The MAC has obeyed it already, and the frame ends here.
control QueuePauseNote(in headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    flow_queue_set_t used = 0;
    flow_queue_set_t before = 0;
    flow_queue_set_t after = 0;
    flow_queue_set_t queue_bit = 0;
    bit<8> active = 0;

    action note_pause() { }

    action ignore() { }

    table bfc_neighbour {
        key = { std.ingress_port: exact @name("port"); }
        actions = { note_pause; @defaultonly ignore; }
        const default_action = ignore();
        size = PORTS;
    }

    action note() {
        queue_bit = ((flow_queue_set_t) 1) << (flow_queue_t) hdr.queue_pause.queue;
        bfc_used_queues.read(used, (bit<32>) std.ingress_port);
        bfc_paused_queues.read(before, (bit<32>) std.ingress_port);
        after = hdr.queue_pause.quanta == 0 ? before & ~queue_bit : before | queue_bit;
        bfc_paused_queues.write((bit<32>) std.ingress_port, after);
        bfc_active_queues.read(active, (bit<32>) std.ingress_port);
        active = after & ~before & used != 0 ? active |-| 1 : active;
        active = before & ~after & used != 0 ? active + 1 : active;
        bfc_active_queues.write((bit<32>) std.ingress_port, active);
    }

    apply {
        if (hdr.queue_pause.isValid() && hdr.queue_pause.organization == QUEUE_PAUSE_ORGANIZATION) {
            if (bfc_neighbour.apply().hit) {
                note();
                mark_to_drop(std);
                meta.is_dropped = 1;
            }
        }
    }
}

control BfcEnqueue(inout headers_t hdr, inout metadata_t meta, in standard_metadata_t std) {
    FlowQueueJoin() join;
    BfcSignal() pause;
    BfcSignal() refresh;
    bit<8> number_of_queues = 0;
    bytes_t hop_bytes = 0;
    duration_us_t keep_us = 0;
    bytes_t depth_bytes = 0;
    bit<8> active = 0;
    bool is_first = false;
    bit<32> place = 0;
    bit<32> before = 0;
    time_us_t sent_us = 0;

    // `hop_rtt_bytes` is hop RTT x rate of the egress port. A flow without packets keeps its queue for `flow_us`.
    action backpressure(bit<8> queues, bytes_t hop_rtt_bytes, duration_us_t flow_us, duration_us_t refresh_us) {
        meta.bfc.is_managed = 1;
        meta.bfc.refresh_us = refresh_us;
        number_of_queues = queues;
        hop_bytes = hop_rtt_bytes;
        keep_us = flow_us;
    }

    action no_backpressure() {
        meta.bfc.is_managed = 0;
    }

    table bfc {
        key = {
            std.egress_spec: exact @name("port");
            meta.traffic_class: exact @name("class");
        }
        actions = { backpressure; @defaultonly no_backpressure; }
        const default_action = no_backpressure();
        size = QUEUES;
    }

    // One action, because BMv2 locks its registers: egress may run at once.
    action require_pause() {
        meta.bfc.is_counted = 1;
        place = (bit<32>) (std.ingress_port ++ meta.bfc.upstream);
        bfc_pause_packets.read(before, place);
        bfc_pause_packets.write(place, before + 1);
        bfc_sent_us.read(sent_us, place);
    }

    apply {
        if (bfc.apply().hit) {
            join.apply(hdr, meta, std.egress_spec, number_of_queues, keep_us, depth_bytes, active, is_first);
            if (!is_first && (bit<64>) depth_bytes * (bit<64>) active > (bit<64>) hop_bytes) {
                require_pause();
                if (before == 0) {
                    pause.apply(meta, std.ingress_port, meta.now_us, PFC_MAX_QUANTA, bfc_event_t.pause);
                } else if (meta.now_us - sent_us >= (time_us_t) meta.bfc.refresh_us) {
                    refresh.apply(meta, std.ingress_port, meta.now_us, PFC_MAX_QUANTA, bfc_event_t.refresh);
                }
            }
        }
    }
}

control BfcDequeue(inout metadata_t meta, in standard_metadata_t std) {
    FlowQueueLeave() leave;
    BfcSignal() resume;
    BfcSignal() refresh;
    bit<32> place = 0;
    bit<32> before = 0;
    time_us_t sent_us = 0;

    action end_requirement() {
        place = (bit<32>) (std.ingress_port ++ meta.bfc.upstream);
        bfc_pause_packets.read(before, place);
        bfc_pause_packets.write(place, before |-| 1);
        bfc_sent_us.read(sent_us, place);
    }

    apply {
        if (meta.bfc.is_managed == 1) {
            leave.apply(meta, std.egress_port, std.egress_global_timestamp);
            if (meta.bfc.is_counted == 1) {
                end_requirement();
                if (before <= 1) {
                    resume.apply(meta, std.ingress_port, std.egress_global_timestamp, 0, bfc_event_t.resume);
                } else if (std.egress_global_timestamp - sent_us >= (time_us_t) meta.bfc.refresh_us) {
                    refresh.apply(meta, std.ingress_port, std.egress_global_timestamp, PFC_MAX_QUANTA,
                                  bfc_event_t.refresh);
                }
            }
        }
    }
}

#endif
