// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Construction of 802.1Qbb pause frames.
#ifndef SFC_T2_PAUSE_FRAME_P4
#define SFC_T2_PAUSE_FRAME_P4

// Turns any packet into a pause frame. All eight timers are the same: a receiver reads those of the enabled classes.
control PauseFrame(inout t2_headers_t hdr, in mac_address_t source, in bit<8> enabled_classes, in bit<16> quanta) {
    action set_frame() {
        hdr.ethernet.dst_addr = PAUSE_ADDRESS;
        hdr.ethernet.src_addr = source;
        hdr.ethernet.ether_type = ETHERTYPE_MAC_CONTROL;
        hdr.mac_control.setValid();
        hdr.mac_control.opcode = PFC_OPCODE;
        hdr.pfc.setValid();
        hdr.pfc.reserved = 0;
        hdr.pfc.enabled_classes = enabled_classes;
        hdr.pfc.quanta_0 = quanta;
        hdr.pfc.quanta_1 = quanta;
        hdr.pfc.quanta_2 = quanta;
        hdr.pfc.quanta_3 = quanta;
        hdr.pfc.quanta_4 = quanta;
        hdr.pfc.quanta_5 = quanta;
        hdr.pfc.quanta_6 = quanta;
        hdr.pfc.quanta_7 = quanta;
        hdr.pfc.padding = 0;
    }

    action drop_other_headers() {
        hdr.ipv4.setInvalid();
        hdr.udp.setInvalid();
        hdr.tcp.setInvalid();
        hdr.tcp_bts.setInvalid();
        hdr.bth.setInvalid();
        hdr.bts.setInvalid();
    }

    apply {
        set_frame();
        drop_other_headers();
    }
}

#endif
