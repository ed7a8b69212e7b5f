// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Load balancing: how a packet chooses a member of its ECMP group. Without an entry the hash of its flow decides. The default
// action of one table selects the method with its parameters, so that no packet pays for the other methods.
//
// Spraying balances every RoCE packet, as NDP does. The other methods balance data packets: ACKs, CNPs and pulls keep the path of
// their flow's hash, as in the public simulator of ConWeave, and so do packets of other protocols.
#ifndef SFC_LOAD_BALANCING_P4
#define SFC_LOAD_BALANCING_P4

// How a packet chooses a member of its group.
enum bit<4> choice_t {
    flow_hash = 0,
    spray = 1,
    round_robin = 2,
    random_member = 3,
    drill = 4,
    least_queued = 5,
    conga = 6
}

control LoadBalancing(inout headers_t hdr, inout metadata_t meta, inout bit<16> member) {
    Spray() spray;
    RoundRobin() round_robin;
    FlowletFind() flowlet_find;
    RandomMember() random_member;
    Drill() drill;
    LeastQueued() least_queued;
    CongaChoice() conga_choice;
    CongaSend() conga_send;

    choice_t choice = choice_t.flow_hash;
    bit<1> has_flowlets = 0;
    bit<32> flowlet_cells = 0;
    duration_us_t gap_us = 0;
    bit<8> drill_samples = 0;
    bit<8> drill_memory = 0;
    bit<32> conga_halvings_q24 = 0;
    bit<32> conga_periods_q32 = 0;
    bit<32> leaf = 0;
    bit<32> cell = 0;
    bit<1> is_new = 1;
    bit<1> has_member = 0;
    bit<16> previous = 0;

    action by_flow() { }

    action by_random() {
        choice = choice_t.spray;
    }

    action by_turn() {
        choice = choice_t.round_robin;
    }

    action by_flowlet(bit<32> cells, duration_us_t gap) {
        choice = choice_t.random_member;
        has_flowlets = 1;
        flowlet_cells = cells;
        gap_us = gap;
    }

    action by_samples(bit<8> samples, bit<8> memory) {
        choice = choice_t.drill;
        drill_samples = samples;
        drill_memory = memory;
    }

    action by_queue() {
        choice = choice_t.least_queued;
    }

    action by_queue_of_flowlet(bit<32> cells, duration_us_t gap) {
        choice = choice_t.least_queued;
        has_flowlets = 1;
        flowlet_cells = cells;
        gap_us = gap;
    }

    // `halvings`: 1 / (time constant x ln 2) per microsecond, in 2^-24; `periods`: aging periods per microsecond, in 2^-32.
    action by_conga(bit<32> cells, duration_us_t gap, bit<32> halvings, bit<32> periods) {
        choice = choice_t.conga;
        has_flowlets = 1;
        flowlet_cells = cells;
        gap_us = gap;
        conga_halvings_q24 = halvings;
        conga_periods_q32 = periods;
    }

    table load_balancing {
        actions = {
            @defaultonly by_flow;
            @defaultonly by_random;
            @defaultonly by_turn;
            @defaultonly by_flowlet;
            @defaultonly by_samples;
            @defaultonly by_queue;
            @defaultonly by_queue_of_flowlet;
            @defaultonly by_conga;
        }
        default_action = by_flow();
    }

    action to_leaf(bit<32> number) {
        leaf = number << UPLINK_BITS;
    }

    action to_elsewhere() {
        choice = choice_t.flow_hash;
    }

    // The number of the leaf of a destination.
    table conga_destination {
        key = { hdr.ipv4.dst_addr: lpm @name("dst_addr"); }
        actions = { to_leaf; @defaultonly to_elsewhere; }
        const default_action = to_elsewhere();
        size = LEAVES;
    }

    action note_flowlet() {
        flowlet_member.write(cell, member + 1);
    }

    apply {
        load_balancing.apply();
        if (choice != choice_t.flow_hash && hdr.bth.isValid()) {
            if (choice == choice_t.spray) {
                spray.apply(meta, member);
            } else if (choice == choice_t.round_robin) {
                round_robin.apply(meta, member);
            } else if (!hdr.bts.isValid()) {
                if (choice == choice_t.conga) {
                    conga_destination.apply();
                }
                if (choice != choice_t.flow_hash && hdr.bth.opcode < ROCE_ACKNOWLEDGE) {
                    if (has_flowlets == 1) {
                        flowlet_find.apply(meta, flowlet_cells, gap_us, cell, member, is_new, has_member);
                    }
                    if (is_new == 1) {
                        previous = member;
                        if (choice == choice_t.random_member) {
                            random_member.apply(meta, member);
                        } else if (choice == choice_t.drill) {
                            drill.apply(meta, drill_samples, drill_memory, member);
                        } else if (choice == choice_t.least_queued) {
                            least_queued.apply(meta, member);
                        } else {
                            conga_choice.apply(meta, leaf, conga_halvings_q24, conga_periods_q32, has_member, member);
                        }
                        if (has_flowlets == 1) {
                            note_flowlet();
                            path_events.count((bit<32>) (bit<EVENT_BITS>) path_event_t.flowlet_begun);
                            if (has_member == 1 && member != previous) {
                                path_events.count((bit<32>) (bit<EVENT_BITS>) path_event_t.flowlet_moved);
                            }
                        }
                    }
                }
                if (choice == choice_t.conga) {
                    conga_send.apply(hdr, leaf, member);
                }
            }
        }
    }
}

#endif
