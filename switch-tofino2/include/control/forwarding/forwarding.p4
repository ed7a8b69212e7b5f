// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// IPv4 longest-prefix match, ECMP over slots of a group, and the traffic class by DSCP.
#ifndef SFC_T2_FORWARDING_P4
#define SFC_T2_FORWARDING_P4

control FlowHash(in t2_headers_t hdr, inout ingress_metadata_t meta) {
    Hash<bit<32>>(HashAlgorithm_t.CRC32) crc32;

    apply {
        meta.flow_hash = crc32.get({ hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ipv4.protocol, meta.l4_src_port,
                                     meta.l4_dst_port });
    }
}

control Forwarding(inout t2_headers_t hdr, inout ingress_metadata_t meta, inout ingress_intrinsic_metadata_for_tm_t ig_tm) {
    Hash<bit<SLOT_BITS>>(HashAlgorithm_t.CRC16) slot_of;
    bit<32> salted;

    action next_hop(PortId_t port, mac_address_t src_addr, mac_address_t dst_addr) {
        ig_tm.ucast_egress_port = port;
        hdr.ethernet.src_addr = src_addr;
        hdr.ethernet.dst_addr = dst_addr;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }

    action ecmp(group_t group) {
        meta.next_hop_group = group;
    }

    action no_route() {
        meta.is_dropped = 1;
    }

    table ipv4_lpm {
        key = { hdr.ipv4.dst_addr: lpm @name("dst_addr"); }
        actions = { next_hop; ecmp; @defaultonly no_route; }
        const default_action = no_route();
        size = 4096;
    }

    // The sum with the salt is not linear, so that two switches choose independently.
    action salt() {
        salted = meta.flow_hash + meta.ecmp_salt;
    }

    action choose_slot() {
        meta.slot = slot_of.get({ salted });
    }

    table ecmp_members {
        key = {
            meta.next_hop_group: exact @name("group");
            meta.slot: exact @name("slot");
        }
        actions = { next_hop; @defaultonly no_route; }
        const default_action = no_route();
        size = SLOTS;
    }

    action set_class(traffic_class_t traffic_class, QueueId_t queue) {
        meta.traffic_class = traffic_class;
        ig_tm.ingress_cos = traffic_class;
        ig_tm.qid = queue;
    }

    table dscp_to_class {
        key = { hdr.ipv4.dscp: exact @name("dscp"); }
        actions = { set_class; }
        default_action = set_class(0, 0);
        size = DSCPS;
    }

    apply {
        salt();
        choose_slot();
        dscp_to_class.apply();
        if (hdr.ipv4.ttl == 0 || hdr.ipv4.ttl == 1) {
            no_route();
        } else {
            switch (ipv4_lpm.apply().action_run) {
                ecmp: { ecmp_members.apply(); }
                default: { }
            }
        }
    }
}

#endif
