// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Source Flow Control for v1model: the data plane of every switch of the testbed. Features are switched on per switch by
// table entries and default actions; without any it is an IPv4 router with ECMP and byte counts of its queues.
#include <core.p4>
#include <v1model.p4>

#include "include/constants.p4"
#include "include/sizes.p4"
#include "include/types.p4"
#include "include/headers.p4"
#include "include/metadata.p4"
#include "include/parser.p4"
#include "include/control/drop.p4"
#include "include/control/validity.p4"
#include "include/control/forwarding.p4"
#include "include/control/queue_state.p4"
#include "include/control/shared_buffer.p4"
#include "include/control/bts_events.p4"
#include "include/control/pause_cache.p4"
#include "include/control/suppression.p4"
#include "include/control/bts_trigger.p4"
#include "include/control/bts_builder.p4"

control SfcIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    Validity() validity;
    FlowHash() flow_hash;
    Forwarding() forwarding;
    QueueRead() queue_read;
    BtsTrigger() bts;
    SharedBuffer() shared_buffer;

    apply {
        validity.apply(hdr, meta, std);
        if (meta.is_dropped == 0) {
            flow_hash.apply(hdr, meta);
            forwarding.apply(hdr, meta, std);
        }
        if (meta.is_dropped == 0) {
            meta.accounted_bytes = std.packet_length;
            if (meta.is_own_bts == 1) {
                // Trimming works on this second pass only (docs/decisions/0002-bts-by-mirror-and-recirculation.md).
                truncate(BTS_FRAME_BYTES);
                meta.accounted_bytes = BTS_FRAME_BYTES;
            }
            queue_read.apply(meta, std);
            bts.apply(hdr, meta, std);
            shared_buffer.apply(meta, std);
        }
    }
}

control SfcEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    BtsBuilder() bts_builder;
    QueueLeave() queue_leave;

    apply {
        if (std.instance_type == INSTANCE_INGRESS_CLONE) {
            bts_builder.apply(hdr, meta);
        } else {
            queue_leave.apply(meta);
        }
    }
}

V1Switch(SfcParser(), SfcVerifyChecksum(), SfcIngress(), SfcEgress(), SfcComputeChecksum(), SfcDeparser()) main;
