// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Decides which packets this switch accepts: IPv4 packets with a correct checksum. Servers may send only with their own
// address and must not send signals.
#ifndef SFC_T2_VALIDITY_P4
#define SFC_T2_VALIDITY_P4

control Validity(inout t2_headers_t hdr, inout ingress_metadata_t meta, in PortId_t ingress_port, in bit<16> parser_err) {
    action server_facing() {
        meta.is_server_ingress = 1;
    }

    action fabric_facing() {
    }

    action recirculation() {
        meta.is_own_signal = 1;
    }

    // Ports that face a server, and those through which this switch's BTS return. All other ports face a switch.
    table ingress_role {
        key = { ingress_port: exact @name("port"); }
        actions = { server_facing; recirculation; @defaultonly fabric_facing; }
        const default_action = fabric_facing();
        size = PORTS;
    }

    // The server behind a port may use this address only.
    table server_address {
        key = {
            ingress_port: exact @name("port");
            hdr.ipv4.src_addr: exact @name("address");
        }
        actions = { NoAction; }
        const default_action = NoAction();
        size = PORTS;
    }

    action set_switch(bit<16> switch_id, bit<32> ecmp_salt) {
        meta.switch_id = switch_id;
        meta.ecmp_salt = ecmp_salt;
    }

    // The identity of this switch: its number in BTS packets, and the salt of its ECMP choices.
    table identity {
        actions = { @defaultonly set_switch; }
        default_action = set_switch(0, 1);
    }

    action drop() {
        meta.is_dropped = 1;
    }

    apply {
        identity.apply();
        ingress_role.apply();
        if (!hdr.ipv4.isValid() || meta.has_checksum_error == 1 || parser_err != 0) {
            drop();
        } else if (hdr.ipv4.version != 4 || hdr.ipv4.ihl != 5) {
            drop();
        } else if (meta.is_server_ingress == 1) {
            if (hdr.bts.isValid() || hdr.tcp_bts.isValid()) {
                drop();  // a server's BTS could pause flows of others or poison the cache
            } else if (!server_address.apply().hit) {
                drop();
            }
        }
    }
}

#endif
