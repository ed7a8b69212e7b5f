// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Decides which packets this switch accepts: complete IPv4 packets with a correct checksum. Servers may send only with their
// own address and must not send signals.
#ifndef SFC_VALIDITY_P4
#define SFC_VALIDITY_P4

control Validity(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    Drop() drop;

    ipv4_address_t server_address = 0;

    action server_facing(ipv4_address_t address) {
        meta.is_server_ingress = 1;
        server_address = address;
    }

    action fabric_facing() {
        meta.is_server_ingress = 0;
    }

    // Ports that face a server, with its address. All other ports face a switch.
    table ingress_role {
        key = { std.ingress_port: exact @name("port"); }
        actions = { server_facing; fabric_facing; }
        const default_action = fabric_facing();
        size = PORTS;
    }

    action set_switch(bit<16> switch_id, bit<32> ecmp_salt, duration_us_t dilation) {
        meta.dilation = dilation;
        meta.switch_id = switch_id;
        meta.ecmp_salt = ecmp_salt | 1;
    }

    // The identity of this switch: its number in BTS packets, and the salt of its ECMP choices, which depends on switch and seed.
    // The dilation is the same in all switches.
    table identity {
        actions = { @defaultonly set_switch; }
        default_action = set_switch(0, 1, 1);
    }

    apply {
        identity.apply();
        if (meta.own_signal == own_signal_t.none) {
            ingress_role.apply();
        }
        if (hdr.mac_control.isValid()) {
            // Pause frames are meant for a MAC. A target without a MAC below the pipeline must not forward them either.
            drop.apply(meta, std, std.ingress_port, drop_reason_t.mac_control);
        } else if (!hdr.ipv4.isValid() || std.parser_error != error.NoError || std.checksum_error == 1
                   || (bit<32>) hdr.ipv4.total_len + 14 > std.packet_length || hdr.ipv4.total_len < 20) {
            drop.apply(meta, std, std.ingress_port, drop_reason_t.malformed);
        } else if (meta.is_server_ingress == 1
                   && (hdr.bts.isValid() || (hdr.bth.isValid() && (hdr.ipv4.dscp == TRIMMED_DSCP
                                                                   || hdr.ipv4.dscp == RETURNED_DSCP)))) {
            // A server's BTS could pause flows of others or poison the cache; trimmed packets come from switches only.
            // The ICMP error with which a kernel answers a packet of DSCP 26 has the DSCP of a trimmed packet, too.
            drop.apply(meta, std, std.ingress_port, drop_reason_t.untrusted_signal);
        } else if (meta.is_server_ingress == 1 && hdr.ipv4.src_addr != server_address) {
            // Data with another server's address would pause that server; its peers would accept a forged ACK or CNP.
            drop.apply(meta, std, std.ingress_port, drop_reason_t.foreign_source);
        }
    }
}

#endif
