// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Source Flow Control for v1model: the data plane of every switch of the testbed. Table entries and default actions enable
// features on each switch. Without them the program is an IPv4 router with ECMP and byte counts of its queues.
#include <core.p4>
#include <v1model.p4>

#include "include/constants.p4"
#include "include/counters.p4"
#include "include/sizes.p4"
#include "include/types.p4"
#include "include/headers.p4"
#include "include/metadata.p4"
#include "include/parser.p4"
#include "include/control/forwarding/drop.p4"
#include "include/control/forwarding/validity.p4"
#include "include/control/decay.p4"
#include "include/control/queue/queue_state.p4"
#include "include/control/forwarding/member_ports.p4"
#include "include/control/forwarding/spray.p4"
#include "include/control/forwarding/round_robin.p4"
#include "include/control/forwarding/flowlets.p4"
#include "include/control/forwarding/drill.p4"
#include "include/control/forwarding/adaptive.p4"
#include "include/control/forwarding/conga.p4"
#include "include/control/forwarding/load_balancing.p4"
#include "include/control/forwarding/forwarding.p4"
#include "include/control/queue/flow_queues.p4"
#include "include/control/queue/trimming.p4"
#include "include/control/queue/shared_buffer.p4"
#include "include/control/feedback/ecn.p4"
#include "include/control/feedback/telemetry.p4"
#include "include/control/bts/bts_count.p4"
#include "include/control/bts/model_time.p4"
#include "include/control/bts/pause_cache.p4"
#include "include/control/bts/suppression_key.p4"
#include "include/control/bts/suppression_banks.p4"
#include "include/control/bts/suppression.p4"
#include "include/control/bts/cells.p4"
#include "include/control/bts/departure_depth.p4"
#include "include/control/bts/pause_time.p4"
#include "include/control/bts/incast_estimator.p4"
#include "include/control/bts/bts_cause.p4"
#include "include/control/bts/bts_trigger.p4"
#include "include/control/bts/egress_bts.p4"
#include "include/control/bts/bts_builder.p4"
#include "include/control/feedback/qcn.p4"
#include "include/control/feedback/bolt.p4"
#include "include/control/pause/pause_frame.p4"
#include "include/control/pause/pfc.p4"
#include "include/control/pause/bfc.p4"
#include "include/control/pause/sfc_p.p4"
#include "include/control/bts/signal_copies.p4"

control SfcIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    BankPeriod() bank_period;
    Validity() validity;
    FlowHash() flow_hash;
    Forwarding() forwarding;
    QueueRead() queue_read;
    BtsTrigger() bts;
    CongestionPoint() congestion_point;
    Bolt() bolt;
    SfcP() sfc_p;
    TurnRound() turn_round;
    Trimming() trimming;
    SharedBuffer() shared_buffer;
    PfcEnqueue() pfc;
    QueuePauseNote() queue_pause_note;
    BfcEnqueue() bfc;
    MirrorAtIngress() mirror;

    // Send a pause frame of this switch, on its second pass, to the neighbour with the highest priority.
    action send_pause() {
        std.egress_spec = meta.frame_port;
        std.priority = PFC_CLASS;
        meta.traffic_class = PFC_CLASS;
        meta.accounted_bytes = PFC_FRAME_BYTES;
        truncate(PFC_FRAME_BYTES);
    }

    // Trimming works on this second pass only (docs/decisions/0002-bts-by-mirror-and-recirculation.md).
    action trim_bts() {
        truncate(BTS_FRAME_BYTES);
        meta.accounted_bytes = BTS_FRAME_BYTES;
    }

    action trim_sub_rtt() {
        truncate(SUB_RTT_FRAME_BYTES);
        meta.accounted_bytes = SUB_RTT_FRAME_BYTES;
    }

    apply {
        meta.accounted_bytes = std.packet_length;
        if (meta.own_signal == own_signal_t.none) {
            meta.now_us = std.ingress_global_timestamp;
        }
        bank_period.apply(meta);
        if (meta.own_signal == own_signal_t.pause) {
            send_pause();
        } else {
            queue_pause_note.apply(hdr, meta, std);
            if (meta.is_dropped == 0) {
                validity.apply(hdr, meta, std);
            }
            if (meta.is_dropped == 0) {
                meta.bfc.upstream = hdr.ethernet.src_addr[UPSTREAM_LOW + UPSTREAM_BITS - 1:UPSTREAM_LOW];
                turn_round.apply(hdr, meta);
                flow_hash.apply(hdr, meta);
                forwarding.apply(hdr, meta, std);
            }
            if (meta.own_signal == own_signal_t.bts) {
                if (hdr.bts.cause == bts_cause_t.sub_rtt) {
                    trim_sub_rtt();
                } else {
                    trim_bts();
                }
            }
        }
        if (meta.is_dropped == 0) {
            queue_read.apply(meta, std);
            if (meta.own_signal != own_signal_t.pause) {
                bts.apply(hdr, meta, std);
                congestion_point.apply(hdr, meta, std);
                bolt.apply(hdr, meta, std);
                if (!hdr.bts.isValid()
                    || (hdr.bts.cause != bts_cause_t.feedback && hdr.bts.cause != bts_cause_t.sub_rtt
                        && (!hdr.tcp.isValid() || hdr.tcp_bts.isValid()))) {
                    sfc_p.apply(hdr, meta, std);
                }
                if (hdr.bts.isValid() && hdr.tcp.isValid()) {
                    hdr.bts.setInvalid();  // a TCP signal leaves as it is
                }
                trimming.apply(hdr, meta, std);
            }
            if (meta.is_dropped == 0) {
                shared_buffer.apply(meta, std);
            }
            if (meta.is_dropped == 0) {
                pfc.apply(meta, std);
                bfc.apply(hdr, meta, std);
            }
            mirror.apply(meta);
        }
    }
}

control SfcEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    SignalBuilder() signal_builder;
    QueueLeave() queue_leave;
    PfcDequeue() pfc;
    BfcDequeue() bfc;
    EgressBts() egress_bts;
    DepartureNote() departure_note;
    EcnMarking() ecn;
    Telemetry() telemetry;
    CongaLink() conga_link;
    MirrorAtEgress() mirror;

    // The mirror copy made at ingress carries these requests, so the packet itself must not repeat them.
    action forget_signals() {
        meta.signal.wants_bts = 0;
        meta.signal.wants_pause = 0;
    }

    apply {
        if (std.instance_type == INSTANCE_INGRESS_CLONE || std.instance_type == INSTANCE_EGRESS_CLONE) {
            signal_builder.apply(hdr, meta, std);
        } else {
            forget_signals();
            queue_leave.apply(meta);
            pfc.apply(meta, std);
            bfc.apply(meta, std);
            egress_bts.apply(hdr, meta, std);
            if (meta.bts.is_depth_noted == 1) {
                departure_note.apply(meta);
            }
            ecn.apply(hdr, meta, std);
            telemetry.apply(hdr, meta, std);
            conga_link.apply(hdr, meta, std);
            mirror.apply(meta);
        }
    }
}

V1Switch(SfcParser(), SfcVerifyChecksum(), SfcIngress(), SfcEgress(), SfcComputeChecksum(), SfcDeparser()) main;
