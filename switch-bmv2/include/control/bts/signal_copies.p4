// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Copies that become signals. A packet that triggers a BTS, a pause frame or both is mirrored once, to the recirculation
// port; there egress makes the signal and sends it through ingress again. A copy that must become both is copied once more.
#ifndef SFC_SIGNAL_COPIES_P4
#define SFC_SIGNAL_COPIES_P4

control MirrorAtIngress(inout metadata_t meta) {
    action mirror() {
        clone_preserving_field_list(CloneType.I2E, BTS_MIRROR_SESSION, MIRROR_FIELDS);
    }

    apply {
        if (meta.signal.wants_bts == 1 || meta.signal.wants_pause == 1) {
            mirror();
        }
    }
}

control MirrorAtEgress(inout metadata_t meta) {
    action mirror() {
        clone_preserving_field_list(CloneType.E2E, BTS_MIRROR_SESSION, MIRROR_FIELDS);
    }

    apply {
        if (meta.signal.wants_bts == 1 || meta.signal.wants_pause == 1) {
            mirror();
        }
    }
}

// Makes the signal of a copy: the BTS first; if a pause is wanted as well, of a further copy.
control SignalBuilder(inout headers_t hdr, inout metadata_t meta, in standard_metadata_t std) {
    BtsBuilder() bts_builder;
    PauseBuilder() pause_builder;
    MirrorAtEgress() mirror;

    apply {
        if (meta.signal.wants_bts == 1) {
            bts_builder.apply(hdr, meta);
            meta.own_signal = own_signal_t.bts;
            meta.signal.wants_bts = 0;
            mirror.apply(meta);
        } else {
            pause_builder.apply(hdr, meta);
            meta.own_signal = own_signal_t.pause;
        }
        meta.now_us = std.egress_global_timestamp;
        recirculate_preserving_field_list(RECIRCULATE_FIELDS);
    }
}

#endif
