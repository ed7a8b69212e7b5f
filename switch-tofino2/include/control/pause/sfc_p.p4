// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// SFC-P (paper section 4): the sender-side ToR turns a BTS for one of its servers into an 802.1Qbb frame for the class, so
// that existing NICs obey. A pause longer than 65535 quanta is clamped.
#ifndef SFC_T2_SFC_P_P4
#define SFC_T2_SFC_P_P4

#ifdef WITH_SFC_P

control SfcP(inout t2_headers_t hdr, in PortId_t egress_port, inout egress_intrinsic_metadata_for_deparser_t eg_deparser) {
    PauseFrame() frame;
    rate_code_t rate = 0;
    mac_address_t source = 0;
    bit<8> enabled_classes = 0;
    bit<16> quanta = 0;
    bit<16> pause_us = 0;
    dscp_t flow_dscp = 0;

    action pause_server(rate_code_t of_port, mac_address_t port_address) {
        rate = of_port;
        source = port_address;
    }

    table sfc_p {
        key = { egress_port: exact @name("port"); }
        actions = { pause_server; @defaultonly NoAction; }
        const default_action = NoAction();
        size = PORTS;
    }

    action pause_classes(bit<8> classes) {
        enabled_classes = classes;
    }

    // The class of the flow that a BTS names, as a set of one bit.
    table flow_class {
        key = { flow_dscp: exact @name("dscp"); }
        actions = { pause_classes; }
        default_action = pause_classes(1);
        size = DSCPS;
    }

    action set_quanta(bit<16> of_pause) {
        quanta = of_pause;
    }

    // Quanta of a pause, rounded up: one entry for each pause that a frame can hold, since the chip cannot multiply.
    table pause_quanta {
        key = {
            rate: exact @name("rate");
            pause_us: exact @name("pause_us");
        }
        actions = { set_quanta; }
        const default_action = set_quanta(PFC_MAX_QUANTA);
        size = QUANTA_ENTRIES;
    }

    action truncate() {
        eg_deparser.mtu_trunc_len = (bit<14>) PFC_FRAME_BYTES;
    }

    apply {
        if (hdr.bts.isValid()) {
            if (sfc_p.apply().hit) {
                pause_us = hdr.bts.pause;
                flow_dscp = hdr.bts.flow_dscp;
                flow_class.apply();
                pause_quanta.apply();
                frame.apply(hdr, source, enabled_classes, quanta);
                truncate();
            }
        }
    }
}

#else

control SfcP(inout t2_headers_t hdr, in PortId_t egress_port, inout egress_intrinsic_metadata_for_deparser_t eg_deparser) {
    apply { }
}

#endif

#endif
