// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Turns a mirror copy into a BTS (paper section 3.2, A.5 and A.6; Algorithm 1, lines 15 to 20): swaps the addresses, computes
// the pause from the queue's depth, and stores the flow. A TCP packet becomes a TCP packet with the pause, as in the
// prototype. All other packets become a UDP packet.
#ifndef SFC_T2_BTS_BUILDER_P4
#define SFC_T2_BTS_BUILDER_P4

#ifdef WITH_TRIGGER

control BtsBuilder(inout t2_headers_t hdr, inout egress_metadata_t meta) {
    PauseTime() pause_time;
    DepthBytes() in_bytes;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) narrow;  // only a hash moves bits to a container of another width
    BtsHeaders() headers;
    rate_code_t rate = 0;
    bytes_t depth_bytes = 0;
    bit<32> pause_us = 0;
    bit<32> longer = 0;

    // The rate of the congested port.
    action port_speed(rate_code_t of_port, bit<1> server_facing) {
        rate = of_port;
        meta.is_server_facing = server_facing;
    }

    table congested_port {
        key = { hdr.mirror.port: exact @name("port"); }
        actions = { port_speed; }
        default_action = port_speed(0, 0);
        size = PORTS;
    }

    action longest() {
        pause_us = BTS_LONGEST_PAUSE;
    }

    action compare() {
        longer = hdr.mirror.longest_us |-| pause_us;
    }

    action take_longer() {
        pause_us = hdr.mirror.longest_us;
    }

    apply {
        congested_port.apply();
        pause_time.apply(hdr.mirror.excess_cells, rate, pause_us);
        in_bytes.apply(hdr.mirror.depth_cells, depth_bytes);
        compare();
        if (longer != 0) {
            take_longer();
        }
        if (pause_us[31:16] != 0) {
            longest();
        }
        meta.pause_us = narrow.get({ pause_us[15:0] });
        headers.apply(hdr, meta, depth_bytes);
    }
}

#else

control BtsBuilder(inout t2_headers_t hdr, inout egress_metadata_t meta) {
    apply { }
}

#endif

#endif
