// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Queues of Backpressure Flow Control (NSDI 2022, docs/sources.md#bfc) at the egress ports. A flow with packets in this switch
// has one of the queues of its port and class. Its first packet takes the first empty queue from the one of its hash on that
// the next hop has not paused, or else the queue of its hash, which it shares. A queue is free when its last packet has left.
//
// A flow keeps its queue for some hop RTTs after its last packet. Otherwise it would leave a queue that the next hop has
// paused because of it, since its next packet would take another one.
//
// Flows are virtual: the hash of the 5-tuple and the egress port is an index, and flows with the same index share an entry. The
// salt is that of ECMP with another factor, so that flows which collide in one switch do not collide in the next.
// Ingress and egress share the registers, so that no packet has to tell ingress of a dequeue. A Tofino would need one signal
// for each, so they are counted.
#ifndef SFC_FLOW_QUEUES_P4
#define SFC_FLOW_QUEUES_P4

// Packets of a virtual flow in this switch, the time of the last one, in microseconds of the switch's clock, its queue, and the
// hash of the flow that took the entry. Index: virtual flow.
register<bit<32>>(VIRTUAL_FLOWS) bfc_flow_packets;
register<time_us_t>(VIRTUAL_FLOWS) bfc_flow_last_us;
register<flow_queue_t>(VIRTUAL_FLOWS) bfc_flow_queue;
register<bit<32>>(VIRTUAL_FLOWS) bfc_flow_hash;

// Bytes in each queue. Index: egress port ++ queue.
register<bytes_t>(PORT_FLOW_QUEUES) bfc_queue_bytes;

// The queues of a port that hold packets, and the queues that the next hop has paused. Index: egress port.
register<flow_queue_set_t>(PORTS) bfc_used_queues;
register<flow_queue_set_t>(PORTS) bfc_paused_queues;

// Number of a port's queues that hold packets, and number of its queues that hold packets and are not paused. Index: egress port.
register<bit<8>>(PORTS) bfc_held_queues;
register<bit<8>>(PORTS) bfc_active_queues;

// Finds the lowest queue in a set that is not empty.
control LowestQueue(in flow_queue_set_t queues, out flow_queue_t queue) {
    const bool has_all_bits = static_assert(FLOW_QUEUE_BITS == 7, "LowestQueue halves 128 bits seven times");
    bit<64> half = 0;

    apply {
        half = (bit<64>) queues;
        queue = 0;
        if (half == 0) {
            half = (bit<64>) (queues >> 64);
            queue = 64;
        }
        if (half & 0xffffffff == 0) {
            half = half >> 32;
            queue = queue + 32;
        }
        if (half & 0xffff == 0) {
            half = half >> 16;
            queue = queue + 16;
        }
        if (half & 0xff == 0) {
            half = half >> 8;
            queue = queue + 8;
        }
        if (half & 0xf == 0) {
            half = half >> 4;
            queue = queue + 4;
        }
        if (half & 0x3 == 0) {
            half = half >> 2;
            queue = queue + 2;
        }
        if (half & 0x1 == 0) {
            queue = queue + 1;
        }
    }
}

// Lets a packet join the queue of its flow. `depth_bytes` is the queue's depth with the packet, and `is_first` says that no
// other packet of the flow is in this switch. `shares` is the number of queues among which the rate of the port is divided: its
// active queues, or all that hold packets if the queue itself is paused, since these will be active when it resumes.
control FlowQueueJoin(inout headers_t hdr, inout metadata_t meta, in port_t port, in bit<8> queues,
                      in duration_us_t keep_us, out bytes_t depth_bytes, out bit<8> shares, out bool is_first) {
    LowestQueue() lowest;
    time_us_t last_us = 0;
    flow_queue_set_t free = 0;
    flow_queue_set_t free_after = 0;
    bit<32> mixed = 0;
    bit<32> packets = 0;
    bit<32> owner = 0;
    bit<32> place = 0;
    bytes_t held = 0;
    bit<8> active = 0;
    flow_queue_set_t used = 0;
    flow_queue_set_t paused = 0;
    flow_queue_set_t queue_bit = 0;

    action find_flow() {
        mixed = (meta.flow_hash ^ (bit<32>) port) * (meta.ecmp_salt * 0x85EBCA77);
        meta.bfc.flow = (bit<FLOW_BITS>) (mixed >> (32 - FLOW_BITS));
        bfc_flow_packets.read(packets, (bit<32>) meta.bfc.flow);
        bfc_flow_last_us.read(last_us, (bit<32>) meta.bfc.flow);
        bfc_flow_queue.read(meta.bfc.queue, (bit<32>) meta.bfc.flow);
        bfc_flow_hash.read(owner, (bit<32>) meta.bfc.flow);
        bfc_used_queues.read(used, (bit<32>) port);
        bfc_paused_queues.read(paused, (bit<32>) port);
    }

    action take_entry() {
        bfc_flow_hash.write((bit<32>) meta.bfc.flow, meta.flow_hash);
        owner = meta.flow_hash;
        meta.bfc.queue = (flow_queue_t) (((mixed & 0xffff) * (bit<32>) queues) >> 16);
        free = ~(used | paused) & ((((flow_queue_set_t) 1) << queues) - 1);
        free_after = free & ~((((flow_queue_set_t) 1) << meta.bfc.queue) - 1);
        free = free_after != 0 ? free_after : free;
    }

    // One action, because BMv2 locks its registers: egress may run at once.
    action join() {
        meta.bfc.list = port ++ meta.bfc.queue;
        place = (bit<32>) meta.bfc.list;
        queue_bit = ((flow_queue_set_t) 1) << meta.bfc.queue;
        bfc_flow_packets.read(packets, (bit<32>) meta.bfc.flow);
        bfc_flow_packets.write((bit<32>) meta.bfc.flow, packets + 1);
        bfc_flow_queue.write((bit<32>) meta.bfc.flow, meta.bfc.queue);
        bfc_queue_bytes.read(held, place);
        depth_bytes = held + meta.accounted_bytes;
        bfc_queue_bytes.write(place, depth_bytes);
        bfc_used_queues.read(used, (bit<32>) port);
        bfc_used_queues.write((bit<32>) port, used | queue_bit);
        bfc_active_queues.read(active, (bit<32>) port);
        active = held == 0 && paused & queue_bit == 0 ? active + 1 : active;
        bfc_active_queues.write((bit<32>) port, active);
        bfc_held_queues.read(shares, (bit<32>) port);
        shares = held == 0 ? shares + 1 : shares;
        bfc_held_queues.write((bit<32>) port, shares);
        shares = paused & queue_bit == 0 ? active : shares;
    }

    action tell_next_hop() {
        meta.softswitch_metadata.egress_queue = (bit<8>) meta.bfc.queue;
        hdr.ethernet.src_addr[UPSTREAM_LOW + UPSTREAM_BITS - 1:UPSTREAM_LOW] = (bit<8>) meta.bfc.queue;
    }

    apply {
        find_flow();
        is_first = packets == 0;
        if (is_first && (owner != meta.flow_hash || meta.now_us - last_us > (time_us_t) keep_us)) {
            take_entry();
            bfc_events.count((bit<32>) (bit<EVENT_BITS>) bfc_event_t.assigned);
            if (free == 0) {
                bfc_events.count((bit<32>) (bit<EVENT_BITS>) bfc_event_t.queue_shared);
            } else {
                lowest.apply(free, meta.bfc.queue);
            }
        }
        if (owner != meta.flow_hash) {
            bfc_events.count((bit<32>) (bit<EVENT_BITS>) bfc_event_t.entry_shared);
        }
        join();
        tell_next_hop();
    }
}

// Lets a packet leave its queue. A queue that sends is not paused, so a pause that is on record has ended without a frame.
control FlowQueueLeave(inout metadata_t meta, in port_t port, in time_us_t now_us) {
    bit<32> packets = 0;
    bit<32> place = 0;
    bytes_t held = 0;
    bytes_t rest = 0;
    bit<8> active = 0;
    bit<8> count = 0;
    flow_queue_set_t used = 0;
    flow_queue_set_t paused = 0;
    flow_queue_set_t queue_bit = 0;

    action leave() {
        place = (bit<32>) (port ++ meta.bfc.queue);
        queue_bit = ((flow_queue_set_t) 1) << meta.bfc.queue;
        bfc_flow_packets.read(packets, (bit<32>) meta.bfc.flow);
        bfc_flow_packets.write((bit<32>) meta.bfc.flow, packets |-| 1);
        bfc_flow_last_us.write((bit<32>) meta.bfc.flow, now_us);
        bfc_queue_bytes.read(held, place);
        rest = held |-| meta.accounted_bytes;
        bfc_queue_bytes.write(place, rest);
        bfc_used_queues.read(used, (bit<32>) port);
        bfc_used_queues.write((bit<32>) port, rest == 0 ? used & ~queue_bit : used);
        bfc_paused_queues.read(paused, (bit<32>) port);
        bfc_paused_queues.write((bit<32>) port, paused & ~queue_bit);
        bfc_active_queues.read(active, (bit<32>) port);
        active = paused & queue_bit != 0 ? active + 1 : active;
        active = rest == 0 && held != 0 ? active |-| 1 : active;
        bfc_active_queues.write((bit<32>) port, active);
        bfc_held_queues.read(count, (bit<32>) port);
        bfc_held_queues.write((bit<32>) port, rest == 0 && held != 0 ? count |-| 1 : count);
    }

    apply {
        leave();
        bfc_events.count((bit<32>) (bit<EVENT_BITS>) bfc_event_t.dequeue_signal);
    }
}

#endif
