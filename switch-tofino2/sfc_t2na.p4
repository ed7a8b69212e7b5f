// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Source Flow Control for Tofino 2: the paper's switch program for hardware. Controls have the names and the order of
// switch-bmv2/sfc.p4, so that the two can be read side by side; docs/targets/tofino2.md lists what the chip forces to differ.
// Table entries and default actions enable mechanisms. To measure one alone, compile with ONE_MECHANISM and WITH_<its name>.
#include <core.p4>
#include <t2na.p4>

#include "include/mechanisms.p4"
#include "../switch-bmv2/include/constants.p4"
#include "../switch-bmv2/include/headers.p4"
#include "include/sizes.p4"
#include "include/metadata.p4"
#include "include/parser.p4"
#include "include/control/forwarding/validity.p4"
#include "include/control/queue/queue_state.p4"
#include "include/control/forwarding/forwarding.p4"
#include "include/control/bts/pause_time.p4"
#include "include/control/bts/pause_cache.p4"
#include "include/control/bts/suppression.p4"
#include "include/control/bts/incast_estimator.p4"
#include "include/control/bts/bts_cause.p4"
#include "include/control/bts/bts_trigger.p4"
#include "include/control/bts/bts_headers.p4"
#include "include/control/bts/bts_builder.p4"
#include "include/control/pause/pause_frame.p4"
#include "include/control/pause/sfc_p.p4"
#include "include/control/bts/signal_copies.p4"

control SfcIngress(inout t2_headers_t hdr, inout ingress_metadata_t meta, in ingress_intrinsic_metadata_t ig,
                   in ingress_intrinsic_metadata_from_parser_t ig_parser,
                   inout ingress_intrinsic_metadata_for_deparser_t ig_deparser,
                   inout ingress_intrinsic_metadata_for_tm_t ig_tm, in ghost_intrinsic_metadata_t ghost) {
    Validity() validity;
    FlowHash() flow_hash;
    PauseCacheKey() cache_key;
    SuppressionKey() suppression_key;
    WatchedDestination() watched;
    Forwarding() forwarding;
    QueueRead() queue_read;
    BtsTrigger() bts;

    apply {
        meta.now = ig_parser.global_tstamp[39:8];
        hdr.bridged.setValid();
        hdr.bridged.kind = packet_kind_t.packet;
        validity.apply(hdr, meta, ig.ingress_port, ig_parser.parser_err);
        if (meta.is_dropped == 0) {
            flow_hash.apply(hdr, meta);
            cache_key.apply(hdr, meta);
            suppression_key.apply(meta);
            watched.apply(hdr, meta);
            forwarding.apply(hdr, meta, ig_tm);
        }
        if (meta.is_dropped == 0) {
            queue_read.apply(meta, ig_tm.ucast_egress_port);
            bts.apply(hdr, meta, ig_tm.ucast_egress_port, ig_deparser);
        } else {
            ig_deparser.drop_ctl = 1;
        }
    }
}

control SfcEgress(inout t2_headers_t hdr, inout egress_metadata_t meta, in egress_intrinsic_metadata_t eg,
                  in egress_intrinsic_metadata_from_parser_t eg_parser,
                  inout egress_intrinsic_metadata_for_deparser_t eg_deparser,
                  inout egress_intrinsic_metadata_for_output_port_t eg_port) {
    SignalBuilder() signal_builder;
    SfcP() sfc_p;

    apply {
        if (meta.is_copy == 1) {
            signal_builder.apply(hdr, meta, eg_deparser);
        } else {
            sfc_p.apply(hdr, eg.egress_port, eg_deparser);
        }
    }
}

Pipeline(SfcIngressParser(), SfcIngress(), SfcIngressDeparser(), SfcEgressParser(), SfcEgress(), SfcEgressDeparser(),
         GhostQueues()) pipe;
Switch(pipe) main;
