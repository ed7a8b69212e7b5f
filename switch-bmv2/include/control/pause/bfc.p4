// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Pauses of Backpressure Flow Control (NSDI 2022, docs/sources.md#bfc). A packet that finds its queue above
// Th = hop RTT x rate / active queues requires a pause of the queue that held it at the previous hop, its upstream queue, as
// long as it is in this switch. Such packets are counted for each upstream queue: the first one causes a pause frame, the last
// one that leaves a resume frame. A packet that is the only one of its flow in this switch never requires a pause.
//
// If several upstream queues wait for one queue, they must not resume at once, since each one sends for a hop RTT before a
// pause can reach it. So an upstream queue that no packet keeps paused joins the list of the queue that its last packet leaves.
// A departure resumes the first member of its queue's list if the queue is below Th, or else a member of a list whose queue is
// empty. From each list one member resumes in an interval. When a port becomes idle, no departure will serve its lists, so that
// their members resume at once, with frames that say how long each pause still lasts.
//
// The upstream queue is in the second byte of the Ethernet source address, which every hop sets (docs/wire-format.md). A pause
// lasts at most 65535 units of 64 quanta, so it is refreshed as long as needed, as with PFC.
#ifndef SFC_BFC_P4
#define SFC_BFC_P4

// Packets in this switch that require a pause. Index: ingress port ++ upstream queue.
register<bit<32>>(UPSTREAM_QUEUES) bfc_pause_packets;

// Time of the last pause frame, in microseconds of the switch's clock. Index: ingress port ++ upstream queue.
register<time_us_t>(UPSTREAM_QUEUES) bfc_sent_us;

// Lists of upstream queues that wait for their turn to resume. A link is the place of an upstream queue (ingress port ++
// upstream queue) plus 1, or 0 outside of a list. The last member links to itself. Index: place; egress port ++ queue.
register<bit<32>>(UPSTREAM_QUEUES) bfc_next_link;
register<bit<32>>(PORT_FLOW_QUEUES) bfc_first_link;
register<bit<32>>(PORT_FLOW_QUEUES) bfc_last_link;

// The queues of a port whose lists have members. Index: egress port.
register<flow_queue_set_t>(PORTS) bfc_waiting_lists;

// Time from which the next member of a list may resume, and of any list if the port is idle. Index: egress port ++ queue; port.
register<time_us_t>(PORT_FLOW_QUEUES) bfc_turn_us;
register<time_us_t>(PORTS) bfc_idle_turn_us;

// Requests a frame for the upstream queue at `place`.
control BfcSignal(inout metadata_t meta, in bit<32> place, in time_us_t now_us, in bit<16> quanta, in bfc_event_t event) {
    apply {
        meta.signal.wants_pause = 1;
        meta.signal.names_queue = 1;
        meta.signal.pause_port = (port_t) (place >> UPSTREAM_BITS);
        meta.signal.pause_class = meta.bfc.traffic_class;
        meta.signal.pause_queue = (upstream_queue_t) place;
        meta.signal.pause_quanta = quanta;
        bfc_sent_us.write(place, now_us);
        bfc_events.count((bit<32>) (bit<EVENT_BITS>) event);
    }
}

// Appends an upstream queue to the list of the egress queue meta.bfc.list, unless it is in a list already.
control BfcWait(in metadata_t meta, in bit<32> place) {
    bit<32> link = 0;
    bit<32> first = 0;
    bit<32> last = 0;
    bit<32> port = 0;
    flow_queue_set_t waiting = 0;

    action find_list() {
        bfc_next_link.read(link, place);
        bfc_first_link.read(first, (bit<32>) meta.bfc.list);
        bfc_last_link.read(last, (bit<32>) meta.bfc.list);
    }

    action append() {
        bfc_next_link.write(place, place + 1);
        bfc_last_link.write((bit<32>) meta.bfc.list, place + 1);
    }

    action begin_list() {
        bfc_first_link.write((bit<32>) meta.bfc.list, place + 1);
        port = (bit<32>) (meta.bfc.list >> FLOW_QUEUE_BITS);
        bfc_waiting_lists.read(waiting, port);
        bfc_waiting_lists.write(port, waiting | ((flow_queue_set_t) 1) << (flow_queue_t) meta.bfc.list);
    }

    apply {
        find_list();
        if (link == 0) {
            append();
            if (first == 0) {
                begin_list();
            } else {
                bfc_next_link.write(last - 1, place + 1);
            }
        }
    }
}

// Resumes the upstream queue whose turn it is: the first one in the list of meta.bfc.list if this queue is below Th, or else in a
// list whose queue is empty. A member whose packets require a pause again leaves its list and stays paused.
control BfcTurn(inout metadata_t meta, in time_us_t now_us) {
    LowestQueue() lowest;
    BfcSignal() resume;
    BfcSignal() refresh;
    bit<32> place = 0;
    bit<32> port = 0;
    bit<32> first = 0;
    bit<32> next = 0;
    bit<32> packets = 0;
    bit<8> held = 0;
    bytes_t depth_bytes = 0;
    time_us_t turn_us = 0;
    flow_queue_set_t waiting = 0;
    flow_queue_set_t used = 0;
    flow_queue_set_t orphans = 0;
    flow_queue_t queue = 0;
    bool is_turn = false;

    action find_lists() {
        port = (bit<32>) (meta.bfc.list >> FLOW_QUEUE_BITS);
        queue = (flow_queue_t) meta.bfc.list;
        bfc_waiting_lists.read(waiting, port);
        bfc_used_queues.read(used, port);
        bfc_held_queues.read(held, port);
        bfc_queue_bytes.read(depth_bytes, (bit<32>) meta.bfc.list);
        bfc_turn_us.read(turn_us, (bit<32>) meta.bfc.list);
        is_turn = (waiting >> queue) & 1 == 1 && now_us >= turn_us
            && (bit<64>) depth_bytes * (bit<64>) held <= (bit<64>) meta.bfc.hop_bytes;
        orphans = waiting & ~used;
    }

    action find_orphan() {
        meta.bfc.list = (port_t) port ++ queue;
        bfc_turn_us.read(turn_us, (bit<32>) meta.bfc.list);
        is_turn = now_us >= turn_us || held == 0;
    }

    action leave_list() {
        bfc_first_link.read(first, (bit<32>) meta.bfc.list);
        place = first - 1;
        bfc_next_link.read(next, place);
        bfc_next_link.write(place, 0);
        bfc_first_link.write((bit<32>) meta.bfc.list, next == first ? 0 : next);
        bfc_waiting_lists.write(port, next == first ? waiting & ~(((flow_queue_set_t) 1) << queue) : waiting);
        bfc_pause_packets.read(packets, place);
    }

    action take_turn() {
        bfc_turn_us.write((bit<32>) meta.bfc.list, now_us + (time_us_t) meta.bfc.turn_us);
        meta.bfc.wait_us = 0;
    }

    // The port sends nothing, so no departure would serve its lists.
    action take_turn_of_idle_port() {
        bfc_idle_turn_us.read(turn_us, port);
        turn_us = now_us >= turn_us ? now_us : turn_us;
        meta.bfc.wait_us = (duration_us_t) (turn_us - now_us);
        bfc_idle_turn_us.write(port, turn_us + (time_us_t) meta.bfc.turn_us);
    }

    apply {
        find_lists();
        if (!is_turn && orphans != 0) {
            lowest.apply(orphans, queue);
            find_orphan();
        }
        if (is_turn) {
            leave_list();
            if (packets != 0) {
                refresh.apply(meta, place, now_us, PFC_MAX_QUANTA, bfc_event_t.refresh);
            } else {
                take_turn();
                if (held == 0) {
                    take_turn_of_idle_port();
                }
                resume.apply(meta, place, now_us, 0, bfc_event_t.resume);
            }
        }
    }
}

// Notes a pause or resume frame of the next hop. The MAC has obeyed it already, and the frame ends here.
control QueuePauseNote(in headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    flow_queue_set_t used = 0;
    flow_queue_set_t before = 0;
    flow_queue_set_t after = 0;
    flow_queue_set_t queue_bit = 0;
    bit<8> active = 0;

    action note_pause() { }

    action ignore() { }

    table bfc_neighbour {
        key = { std.ingress_port: exact @name("port"); }
        actions = { note_pause; @defaultonly ignore; }
        const default_action = ignore();
        size = PORTS;
    }

    action note() {
        queue_bit = ((flow_queue_set_t) 1) << (flow_queue_t) hdr.queue_pause.queue;
        bfc_used_queues.read(used, (bit<32>) std.ingress_port);
        bfc_paused_queues.read(before, (bit<32>) std.ingress_port);
        after = hdr.queue_pause.quanta == 0 ? before & ~queue_bit : before | queue_bit;
        bfc_paused_queues.write((bit<32>) std.ingress_port, after);
        bfc_active_queues.read(active, (bit<32>) std.ingress_port);
        active = after & ~before & used != 0 ? active |-| 1 : active;
        active = before & ~after & used != 0 ? active + 1 : active;
        bfc_active_queues.write((bit<32>) std.ingress_port, active);
    }

    apply {
        if (hdr.queue_pause.isValid() && hdr.queue_pause.organization == QUEUE_PAUSE_ORGANIZATION) {
            if (bfc_neighbour.apply().hit) {
                note();
                mark_to_drop(std);
                meta.is_dropped = 1;
            }
        }
    }
}

control BfcEnqueue(inout headers_t hdr, inout metadata_t meta, in standard_metadata_t std) {
    FlowQueueJoin() join;
    BfcSignal() pause;
    BfcSignal() refresh;
    bit<8> number_of_queues = 0;
    duration_us_t keep_us = 0;
    bytes_t depth_bytes = 0;
    bit<8> shares = 0;
    bool is_first = false;
    bit<32> place = 0;
    bit<32> before = 0;
    time_us_t sent_us = 0;

    // `hop_rtt_bytes` is hop RTT x rate of the egress port. A flow without packets keeps its queue for `flow_us`. `turn_us` is
    // the interval in which one upstream queue of each list may resume.
    action backpressure(bit<8> queues, bytes_t hop_rtt_bytes, duration_us_t flow_us, duration_us_t refresh_us,
                        duration_us_t turn_us) {
        meta.bfc.is_managed = 1;
        meta.bfc.refresh_us = refresh_us;
        number_of_queues = queues;
        meta.bfc.hop_bytes = hop_rtt_bytes;
        meta.bfc.turn_us = turn_us;
        keep_us = flow_us;
    }

    action no_backpressure() {
        meta.bfc.is_managed = 0;
    }

    table bfc {
        key = {
            std.egress_spec: exact @name("port");
            meta.traffic_class: exact @name("class");
        }
        actions = { backpressure; @defaultonly no_backpressure; }
        const default_action = no_backpressure();
        size = QUEUES;
    }

    // One action, because BMv2 locks its registers: egress may run at once.
    action require_pause() {
        meta.bfc.is_counted = 1;
        place = (bit<32>) (std.ingress_port ++ meta.bfc.upstream);
        bfc_pause_packets.read(before, place);
        bfc_pause_packets.write(place, before + 1);
        bfc_sent_us.read(sent_us, place);
    }

    apply {
        if (bfc.apply().hit) {
            meta.bfc.traffic_class = meta.traffic_class;
            join.apply(hdr, meta, std.egress_spec, number_of_queues, keep_us, depth_bytes, shares, is_first);
            if (!is_first && (bit<64>) depth_bytes * (bit<64>) shares > (bit<64>) meta.bfc.hop_bytes) {
                require_pause();
                if (before == 0) {
                    pause.apply(meta, place, meta.now_us, PFC_MAX_QUANTA, bfc_event_t.pause);
                } else if (meta.now_us - sent_us >= (time_us_t) meta.bfc.refresh_us) {
                    refresh.apply(meta, place, meta.now_us, PFC_MAX_QUANTA, bfc_event_t.refresh);
                }
            }
        }
    }
}

control BfcDequeue(inout metadata_t meta, in standard_metadata_t std) {
    FlowQueueLeave() leave;
    BfcWait() wait;
    BfcTurn() turn;
    BfcSignal() refresh;
    bit<32> place = 0;
    bit<32> before = 0;
    time_us_t sent_us = 0;

    action end_requirement() {
        place = (bit<32>) (std.ingress_port ++ meta.bfc.upstream);
        bfc_pause_packets.read(before, place);
        bfc_pause_packets.write(place, before |-| 1);
        bfc_sent_us.read(sent_us, place);
    }

    apply {
        if (meta.bfc.is_managed == 1) {
            leave.apply(meta, std.egress_port, std.egress_global_timestamp);
            if (meta.bfc.is_counted == 1) {
                end_requirement();
                if (before <= 1) {
                    wait.apply(meta, place);
                }
            }
            turn.apply(meta, std.egress_global_timestamp);
            if (meta.bfc.is_counted == 1 && before > 1 && meta.signal.wants_pause == 0
                && std.egress_global_timestamp - sent_us >= (time_us_t) meta.bfc.refresh_us) {
                refresh.apply(meta, place, std.egress_global_timestamp, PFC_MAX_QUANTA, bfc_event_t.refresh);
            }
        }
    }
}

// Serves the lists of an idle port from the mirror copy that resumed a member, with another copy for the next one. It ends after
// some members, because a target limits the passes of a packet; what these send will serve the others.
control BfcNextTurn(inout metadata_t meta, in standard_metadata_t std) {
    BfcTurn() turn;
    bit<8> held = 0;

    apply {
        meta.signal.wants_pause = 0;
        bfc_held_queues.read(held, (bit<32>) (meta.bfc.list >> FLOW_QUEUE_BITS));
        if (held == 0 && meta.bfc.wait_us >> IDLE_TURNS_BITS < meta.bfc.turn_us) {
            turn.apply(meta, std.egress_global_timestamp);
        }
    }
}

#endif
