// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// ECN marking (DCQCN): RED on the depth that a packet leaves behind, per (port, class). Below Kmin no packet is marked and
// above Kmax every packet; in between the probability grows linearly to Pmax. Kmin = Kmax gives a step.
#ifndef SFC_ECN_P4
#define SFC_ECN_P4

control EcnMarking(inout headers_t hdr, in metadata_t meta, in standard_metadata_t std) {
    bytes_t k_min_bytes = 0;
    bytes_t k_max_bytes = 0;
    bit<64> slope = 0;
    bit<32> chance = 0;

    // `slope_q32` is Pmax / (Kmax - Kmin) per byte, in 2^-32.
    action red(bytes_t k_min, bytes_t k_max, bit<32> slope_q32) {
        k_min_bytes = k_min;
        k_max_bytes = k_max;
        slope = (bit<64>) slope_q32;
    }

    action no_marking() { }

    table ecn {
        key = {
            std.egress_port: exact @name("port");
            meta.traffic_class: exact @name("class");
        }
        actions = { red; @defaultonly no_marking; }
        const default_action = no_marking();
        size = QUEUES;
    }

    apply {
        if (hdr.ipv4.isValid() && hdr.ipv4.ecn != ECN_NOT_CAPABLE) {
            if (ecn.apply().hit) {
                if (meta.queue_bytes > k_max_bytes) {
                    hdr.ipv4.ecn = ECN_CONGESTION_EXPERIENCED;
                } else if (meta.queue_bytes > k_min_bytes) {
                    random(chance, 32w0, 32w0xffffffff);
                    if ((bit<64>) chance < (bit<64>) (meta.queue_bytes - k_min_bytes) * slope) {
                        hdr.ipv4.ecn = ECN_CONGESTION_EXPERIENCED;
                    }
                }
            }
        }
    }
}

#endif
