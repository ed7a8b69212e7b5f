// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Copies that become a BTS. A packet that triggers one is mirrored to the recirculation port. There egress builds the BTS,
// which returns to ingress and is forwarded like any packet.
#ifndef SFC_T2_SIGNAL_COPIES_P4
#define SFC_T2_SIGNAL_COPIES_P4

control SignalBuilder(inout t2_headers_t hdr, inout egress_metadata_t meta,
                      inout egress_intrinsic_metadata_for_deparser_t eg_deparser) {
    BtsBuilder() bts_builder;

    action not_needed() {
        eg_deparser.drop_ctl = 1;
    }

    action truncate() {
        eg_deparser.mtu_trunc_len = (bit<14>) BTS_FRAME_BYTES;
    }

    apply {
        bts_builder.apply(hdr, meta);
        truncate();
        if (meta.pause_us == 0) {
            // A pause of 0 would end a pause that another BTS requested.
            not_needed();
        }
    }
}

#endif
