// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// CONGA (SIGCOMM 2014, section 3) in a network of two tiers. Each link has a discounting rate estimator (DRE). A packet between
// two leaves carries the load of its most loaded link to the destination leaf, which stores it by source leaf and uplink, and
// sends it back in packets of the opposite direction. The source leaf sends a new flowlet over the uplink for which the larger
// one of its own load and of the reported load is smallest.
//
// The fields are in the IPv4 identification, which is free in atomic datagrams (RFC 6864): a one, the uplink (LBTag, 4 bits), the
// load (CE, 3), whether feedback follows (1), its uplink (FB_LBTag, 4) and its load (FB_Metric, 3). The destination leaf sets
// the identification to 0 again, as RoCE hosts send it. The program measures RoCE packets only.
#ifndef SFC_CONGA_P4
#define SFC_CONGA_P4

// The load of each link: the DRE's register X in units of 2^-28 of rate x time constant (32 bits) ++ the time of its last update.
register<bit<80>>(PORTS) conga_load;

// Congestion-To-Leaf table: the reported load (8 bits) ++ the time of the report. Index: destination leaf ++ uplink.
register<bit<56>>(LEAF_UPLINKS) conga_to;

// Congestion-From-Leaf table: the load. Index: source leaf ++ uplink.
register<bit<8>>(LEAF_UPLINKS) conga_from_load;

// The uplinks of each source leaf with a known load, those whose load has changed since it was sent back, and the uplink
// whose turn it is to be sent back. Index: source leaf.
register<uplink_set_t>(LEAVES) conga_known;
register<uplink_set_t>(LEAVES) conga_changed;
register<bit<8>>(LEAVES) conga_turn;

// Returns the load in eighths, 7 at most (Q = 3).
bit<8> quantised(in bit<32> load_q28) {
    return 8w7 - (8w7 |-| (bit<8>) (load_q28 >> 25));
}

// Returns a number for shifting, at most 255.
bit<8> shift_of(in bit<64> number) {
    return (bit<8>) (255 - (255 |-| number));
}

// Returns a load after `halvings_q24` half-lives, linearly between whole half-lives: at most 6 % too much.
bit<32> faded(in bit<32> load_q28, in bit<64> halvings_q24) {
    return (bit<32>) (((bit<64>) (load_q28 >> shift_of(halvings_q24 >> 24))
        * (0x2000000 - (halvings_q24 & 0xffffff))) >> 25);
}

// Whether a packet carries CONGA's fields.
bool has_conga(in headers_t hdr) {
    return hdr.bth.isValid() && !hdr.bts.isValid() && hdr.ipv4.identification[HAS_CONGA_LOW:HAS_CONGA_LOW] == 1;
}

// Chooses the uplink of a new flowlet. Among equal uplinks the flowlet's previous one is preferred, then a random one.
// A report that is not renewed halves in each aging period.
control CongaChoice(in metadata_t meta, in bit<32> leaf, in bit<32> halvings_per_us_q24, in bit<32> periods_per_us_q32,
                    in bit<1> has_member, inout bit<16> member) {
    bit<32> place = 0;
    bit<32> report_place = 0;
    bit<32> chance = 0;
    bit<16> candidate = 0;
    bit<16> previous = 0;
    bit<32> port = 0;
    bit<80> load = 0;
    bit<56> report = 0;
    bit<8> local = 0;
    bit<8> remote = 0;
    bit<16> tie = 0;
    bit<40> least = 0;

    action consider() {
        member_ports.read(port, place);
        conga_load.read(load, port);
        conga_to.read(report, report_place);
        local = quantised(faded((bit<32>) (load >> 48),
            (bit<64>) (meta.now_us |-| (time_us_t) load) * (bit<64>) halvings_per_us_q24));
        remote = (bit<8>) (report >> 48)
            >> shift_of(((bit<64>) (meta.now_us |-| (time_us_t) report) * (bit<64>) periods_per_us_q32) >> 32);
        chance = NEXT(chance);
        tie = candidate == previous ? 0 : (bit<16>) (chance >> 16) | 1;
        local = remote + (local |-| remote);  // the larger one
        least = least - (least |-| (local ++ tie ++ candidate));  // the smaller one
        candidate = candidate + 1;
        place = place + 1;
        report_place = report_place + 1;
    }

    apply {
        place = first_member(meta);
        report_place = leaf;
        candidate = 0;
        random(chance, 32w0, 32w0xffffffff);
        previous = has_member == 1 ? member : 0xffff;
        least = 0xffffffffff;
        CONSIDER_8(0) CONSIDER_8(8)
        member = (bit<16>) least;
    }
}

// Writes CONGA's fields into a packet to another leaf, with the next load to send back to that leaf. Loads that have changed
// come first.
control CongaSend(inout headers_t hdr, in bit<32> leaf, in bit<16> member) {
    bit<32> source = 0;
    uplink_set_t known = 0;
    uplink_set_t changed = 0;
    uplink_set_t waiting = 0;
    bit<8> turn = 0;
    bit<8> uplink = 0;
    bit<8> load = 0;

    action find_feedback() {
        source = leaf >> UPLINK_BITS;
        conga_known.read(known, source);
        conga_changed.read(changed, source);
        conga_turn.read(turn, source);
        // The lowest uplink from the turn on, round the end.
        waiting = changed != 0 ? changed : known;
        waiting = (waiting >> turn) | (waiting << (UPLINKS - turn));
        waiting = waiting & (~waiting + 1);
    }

    action write_fields() {
        uplink = (waiting & 16w0xff00 != 0 ? 8w8 : 0) + (waiting & 16w0xf0f0 != 0 ? 8w4 : 0)
            + (waiting & 16w0xcccc != 0 ? 8w2 : 0) + (waiting & 16w0xaaaa != 0 ? 8w1 : 0);
        uplink = (uplink + turn) & (UPLINKS - 1);
        conga_from_load.read(load, leaf + (bit<32>) uplink);
        conga_turn.write(source, (uplink + 1) & (UPLINKS - 1));
        conga_changed.write(source, changed & ~(((uplink_set_t) 1) << uplink));
        hdr.ipv4.identification = 1w1 ++ (bit<UPLINK_BITS>) member ++ (bit<LOAD_BITS>) 0 ++ (known != 0 ? 1w1 : 1w0)
            ++ (bit<UPLINK_BITS>) uplink ++ (bit<LOAD_BITS>) load;
    }

    apply {
        find_feedback();
        write_fields();
    }
}

// Takes CONGA's fields out of a packet at its destination leaf.
control CongaReceive(inout headers_t hdr, in metadata_t meta) {
    bit<32> leaf = 0;
    bit<32> source = 0;
    bit<32> place = 0;
    uplink_set_t known = 0;
    uplink_set_t changed = 0;
    uplink_set_t uplink_bit = 0;
    bit<8> uplink = 0;
    bit<8> load = 0;
    bit<8> old = 0;

    action from_leaf(bit<32> number) {
        leaf = number << UPLINK_BITS;
        source = number;
    }

    action from_elsewhere() { }

    // The number of the leaf of a source. Spines have no entries.
    table conga_source {
        key = { hdr.ipv4.src_addr: lpm @name("src_addr"); }
        actions = { from_leaf; @defaultonly from_elsewhere; }
        const default_action = from_elsewhere();
        size = LEAVES;
    }

    action note_load() {
        uplink = (bit<8>) hdr.ipv4.identification[UPLINK_LOW + UPLINK_BITS - 1:UPLINK_LOW];
        place = leaf + (bit<32>) uplink;
        uplink_bit = ((uplink_set_t) 1) << uplink;
        load = (bit<8>) hdr.ipv4.identification[LOAD_LOW + LOAD_BITS - 1:LOAD_LOW];
        conga_from_load.read(old, place);
        conga_known.read(known, source);
        conga_changed.read(changed, source);
        changed = known & uplink_bit == 0 || old != load ? changed | uplink_bit : changed;
        conga_from_load.write(place, load);
        conga_known.write(source, known | uplink_bit);
        conga_changed.write(source, changed);
    }

    action note_feedback() {
        place = leaf
            + (bit<32>) hdr.ipv4.identification[FEEDBACK_UPLINK_LOW + UPLINK_BITS - 1:FEEDBACK_UPLINK_LOW];
        load = (bit<8>) hdr.ipv4.identification[FEEDBACK_LOAD_LOW + LOAD_BITS - 1:FEEDBACK_LOAD_LOW];
        conga_to.write(place, load ++ meta.now_us);
    }

    action remove_fields() {
        hdr.ipv4.identification = 0;
    }

    apply {
        if (has_conga(hdr) && meta.is_server_ingress == 0 && conga_source.apply().hit) {
            note_load();
            if (hdr.ipv4.identification[HAS_FEEDBACK_LOW:HAS_FEEDBACK_LOW] == 1) {
                note_feedback();
            }
            remove_fields();
        }
    }
}

// At dequeue: measures the load of the link, and raises the load in the packet to it.
control CongaLink(inout headers_t hdr, in metadata_t meta, in standard_metadata_t std) {
    Decay() decay;
    bit<80> load = 0;
    bit<32> load_q28 = 0;
    bit<64> halvings_q24 = 0;
    bit<64> byte_q40 = 0;
    bit<8> local = 0;

    // `byte`: a byte in 2^-40 of rate x time constant; `halvings`: 1 / (time constant x ln 2) per microsecond, in 2^-24.
    action measure(bit<32> byte, bit<32> halvings) {
        conga_load.read(load, (bit<32>) std.egress_port);
        load_q28 = (bit<32>) (load >> 48);
        halvings_q24 = (bit<64>) (std.egress_global_timestamp |-| (time_us_t) load) * (bit<64>) halvings;
        byte_q40 = (bit<64>) byte;
    }

    action unmeasured() { }

    action store() {
        load_q28 = load_q28 |+| (bit<32>) (((bit<64>) meta.accounted_bytes * byte_q40) >> 12);
        conga_load.write((bit<32>) std.egress_port, load_q28 ++ std.egress_global_timestamp);
        local = quantised(load_q28);
    }

    action raise_load() {
        hdr.ipv4.identification[LOAD_LOW + LOAD_BITS - 1:LOAD_LOW] = (bit<LOAD_BITS>) local;
    }

    table conga_link {
        key = { std.egress_port: exact @name("port"); }
        actions = { measure; @defaultonly unmeasured; }
        const default_action = unmeasured();
        size = PORTS;
    }

    apply {
        if (has_conga(hdr)) {
            if (conga_link.apply().hit) {
                decay.apply(load_q28, halvings_q24);
                store();
                if (local > (bit<8>) hdr.ipv4.identification[LOAD_LOW + LOAD_BITS - 1:LOAD_LOW]) {
                    raise_load();
                }
            }
        }
    }
}

#endif
