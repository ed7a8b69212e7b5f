// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// The key of the suppression filter: the 5-tuple of the flow (paper section 4), or source address, destination address and
// DSCP, as in the prototype. If hosts spread the packets of a flow over paths by UDP source ports, a 5-tuple is only a part of
// the flow: the key then has the destination's queue pair instead of ports. The CRC-16 is computed for a filter that needs a
// second hash.
#ifndef SFC_SUPPRESSION_KEY_P4
#define SFC_SUPPRESSION_KEY_P4

// [0] number of the filter's period, [1] keys in the filter, [2] most keys in any period. [2] is read by the control plane.
register<bit<32>>(3) suppression_state;

control SuppressionKey(in headers_t hdr, in metadata_t meta, in bit<1> needs_crc16, out bit<32> key_crc32,
                       out bit<16> key_crc16) {
    bit<1> has_ports = 1;
    bit<1> has_queue_pair = 0;
    bit<16> dst_port = 0;

    action by_flow() {
        has_ports = 1;
    }

    action by_addresses() {
        has_ports = 0;
    }

    action by_queue_pair() {
        has_queue_pair = 1;
    }

    table suppression_key {
        actions = { @defaultonly by_flow; @defaultonly by_addresses; @defaultonly by_queue_pair; }
        default_action = by_flow();
    }

    apply {
        key_crc32 = meta.flow_hash;
        key_crc16 = 0;
        suppression_key.apply();
        if (has_queue_pair == 1 && hdr.bth.isValid()) {
            hash(key_crc32, HashAlgorithm.crc32, 32w0,
                 { hdr.ipv4.src_addr, hdr.ipv4.dst_addr, 8w0 ++ hdr.bth.destination_qp }, 33w0x100000000);
            if (needs_crc16 == 1) {
                hash(key_crc16, HashAlgorithm.crc16, 16w0,
                     { hdr.ipv4.src_addr, hdr.ipv4.dst_addr, 8w0 ++ hdr.bth.destination_qp }, 17w0x10000);
            }
        } else {
            if (has_ports == 0) {
                hash(key_crc32, HashAlgorithm.crc32, 32w0, { hdr.ipv4.src_addr, hdr.ipv4.dst_addr, 2w0 ++ hdr.ipv4.dscp },
                     33w0x100000000);
            }
            if (needs_crc16 == 1) {
                if (has_ports == 0) {
                    hash(key_crc16, HashAlgorithm.crc16, 16w0,
                         { hdr.ipv4.src_addr, hdr.ipv4.dst_addr, 2w0 ++ hdr.ipv4.dscp }, 17w0x10000);
                } else {
                    // As in the flow's hash, packets with telemetry have the usual port.
                    dst_port = hdr.telemetry.isValid() ? ROCE_UDP_PORT : meta.l4_dst_port;
                    hash(key_crc16, HashAlgorithm.crc16, 16w0,
                         { hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ipv4.protocol, meta.l4_src_port, dst_port },
                         17w0x10000);
                }
            }
        }
    }
}

#endif
