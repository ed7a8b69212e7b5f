// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Says which packets this switch carries at all: whole IPv4 packets with a right checksum, from a server only under its own
// address, and signals that can be true.
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

    // Ports that face a server, and its address; every other port faces a switch.
    table ingress_role {
        key = { std.ingress_port: exact @name("port"); }
        actions = { server_facing; fabric_facing; }
        const default_action = fabric_facing();
        size = PORTS;
    }

    action set_switch(bit<16> switch_id, bit<32> ecmp_salt) {
        meta.switch_id = switch_id;
        meta.ecmp_salt = ecmp_salt | 1;
    }

    // Who this switch is: its number in BTS packets, and what makes its ECMP choice differ from its neighbours'.
    table identity {
        actions = { @defaultonly set_switch; }
        default_action = set_switch(0, 1);
    }

    apply {
        identity.apply();
        if (meta.own_signal == own_signal_t.none) {
            ingress_role.apply();
        }
        if (hdr.mac_control.isValid()) {
            // Pause frames speak to a MAC. A target that has none below the pipeline must still not forward them.
            drop.apply(meta, std, std.ingress_port, drop_reason_t.mac_control);
        } else if (!hdr.ipv4.isValid() || std.parser_error != error.NoError || std.checksum_error == 1
                   || (bit<32>) hdr.ipv4.total_len + 14 > std.packet_length || hdr.ipv4.total_len < 20) {
            drop.apply(meta, std, std.ingress_port, drop_reason_t.malformed);
        } else if (meta.is_server_ingress == 1
                   && (hdr.bts.isValid() || (hdr.bth.isValid() && (hdr.ipv4.dscp == TRIMMED_DSCP
                                                                   || hdr.ipv4.dscp == RETURNED_DSCP)))) {
            // Servers make neither BTS packets, which would pause others' flows or poison the cache, nor trimmed ones.
            // But a kernel's ICMP error has the DSCP of a trimmed packet where it answers one of DSCP 26.
            drop.apply(meta, std, std.ingress_port, drop_reason_t.untrusted_signal);
        } else if (meta.is_server_ingress == 1 && hdr.ipv4.src_addr != server_address) {
            // Data under another's name would pause it, an acknowledgement or CNP would be believed by its peers.
            drop.apply(meta, std, std.ingress_port, drop_reason_t.foreign_source);
        }
    }
}

#endif
