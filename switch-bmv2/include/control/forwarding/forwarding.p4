// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// IPv4 longest-prefix match, load balancing over a group of next hops, and the traffic class by DSCP.
#ifndef SFC_FORWARDING_P4
#define SFC_FORWARDING_P4

// Packets with telemetry have another UDP port than the same flow's packets without. The hash is that of the usual port, so
// that a flow takes the same path under every scheme.
control FlowHash(in headers_t hdr, inout metadata_t meta) {
    apply {
        bit<16> dst_port = meta.l4_dst_port;
        if (hdr.telemetry.isValid()) {
            dst_port = ROCE_UDP_PORT;
        }
        hash(meta.flow_hash, HashAlgorithm.crc32, 32w0,
            { hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ipv4.protocol, meta.l4_src_port, dst_port },
            33w0x100000000);
    }
}

control Forwarding(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    Drop() drop;
    CongaReceive() conga_receive;
    LoadBalancing() load_balancing;

    action next_hop(port_t port, mac_address_t src_addr, mac_address_t dst_addr) {
        std.egress_spec = port;
        hdr.ethernet.src_addr = src_addr;
        hdr.ethernet.dst_addr = dst_addr;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }

    action ecmp(group_t group, bit<16> size) {
        meta.next_hop_group = group;
        meta.group_size = size;
    }

    action no_route() { }

    table ipv4_lpm {
        key = { hdr.ipv4.dst_addr: lpm @name("dst_addr"); }
        actions = { next_hop; ecmp; @defaultonly no_route; }
        const default_action = no_route();
        size = ROUTES;
    }

    bit<16> member = 0;
    drop_reason_t unroutable = drop_reason_t.no_route;

    table ecmp_members {
        key = {
            meta.next_hop_group: exact @name("group");
            member: exact @name("member");
        }
        actions = { next_hop; @defaultonly no_route; }
        const default_action = no_route();
        size = NEXT_HOPS;
    }

    action set_class(traffic_class_t traffic_class) {
        meta.traffic_class = traffic_class;
        std.priority = traffic_class;
    }

    table dscp_to_class {
        key = { hdr.ipv4.dscp: exact @name("dscp"); }
        actions = { set_class; }
        default_action = set_class(0);
        size = DSCPS;
    }

    action choose_member() {
        member = member_of(meta.flow_hash, meta);
    }

    apply {
        if (hdr.ipv4.ttl <= 1) {
            drop.apply(meta, std, std.ingress_port, drop_reason_t.ttl_expired);
        } else {
            if (meta.own_signal == own_signal_t.bts) {
                unroutable = drop_reason_t.bts_no_route;
            }
            conga_receive.apply(hdr, meta);
            switch (ipv4_lpm.apply().action_run) {
                ecmp: {
                    choose_member();
                    load_balancing.apply(hdr, meta, member);
                    if (!ecmp_members.apply().hit) {
                        drop.apply(meta, std, std.ingress_port, unroutable);
                    }
                }
                no_route: {
                    drop.apply(meta, std, std.ingress_port, unroutable);
                }
            }
            dscp_to_class.apply();
        }
    }
}

#endif
