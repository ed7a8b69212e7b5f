/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Queues and wires of the ports. Each port has a strict-priority FIFO per class (7 highest), or several FIFOs that take
 * turns within the class, and one wire that all classes share. The next packet starts at max(ready, previous end) and
 * occupies the wire for exactly 8 * bytes / rate; the fraction of a nanosecond is carried to the next packet. Must know
 * frames and times, but no pipeline.
 */
#ifndef SW_TRAFFIC_MANAGER_H
#define SW_TRAFFIC_MANAGER_H

#include "common/index_heap.h"
#include "traffic/impairment.h"
#include "traffic/round_robin.h"

#define SW_ANY_DEPTH UINT32_MAX

/* The queue of a class. The counts and the pause are those of the whole class. */
struct sw_queue {
    struct sw_frame_list frames; /* empty if the class has several queues ... */
    struct sw_round *round;      /* ... and this is not NULL */
    uint32_t packets;
    uint32_t most_packets; /* a packet that finds as many is dropped; SW_ANY_DEPTH: no limit */
    uint64_t bytes;        /* enqueued and not yet started on the wire */
    uint64_t high_bytes;   /* highest depth since the last sample, see telemetry.h */
    int64_t pause_until_ns;
};

struct sw_port {
    struct sw_queue queues[SW_CLASS_COUNT];
    uint8_t waiting; /* a bit per class that holds packets */
    bool has_device;
    bool carries_empty; /* whether the device carries frames of 0 bytes */
    bool decodes_mac_control;
    bool is_down;      /* whether the link is down in both directions */
    uint64_t rate_bps; /* 0: a packet takes no time */
    uint64_t rate_pps; /* not 0: a packet takes 1/rate_pps s, whatever its size and rate_bps, as in BMv2 */
    int64_t delay_ns;
    bool keeps_rate, keeps_delay, keeps_depth; /* set by a command, so that its link's shape does not matter */
    int64_t ingress_delay_ns;
    int64_t wire_free_ns;                      /* end of the last packet on the wire, rounded down ... */
    uint64_t wire_remainder;                   /* ... and the fraction cut off, in 1/rate_bps ns */
    int64_t last_due_ns;                       /* a link does not reorder */
    struct sw_impairments *leaving, *arriving; /* impairments of the link; NULL: none was ever set */
};

struct sw_traffic_manager {
    struct sw_port ports[SW_PORT_COUNT];
    struct sw_index_heap wires; /* by port: time at which it can start its next packet */
    uint64_t bytes;             /* sum over the ports with a device */
    uint64_t high_bytes;
};

int sw_tm_init(struct sw_traffic_manager *tm);
void sw_tm_free(struct sw_traffic_manager *tm);

/* Whether the queue of (port, class) holds as many packets as it may. */
static inline bool sw_tm_is_full(const struct sw_traffic_manager *tm, uint32_t port, uint32_t class_)
{
    return tm->ports[port].queues[class_].packets >= tm->ports[port].queues[class_].most_packets;
}

/* Appends a frame to the queue of (port, class), or to queue frame->queue of several. */
void sw_tm_enqueue(struct sw_traffic_manager *tm, uint32_t port, uint32_t class_, struct sw_frame *frame,
                   int64_t now_ns);

/* The earliest time at which a port can start a packet, and that port; SW_NEVER if all are empty or paused. */
static inline int64_t sw_tm_next_ns(const struct sw_traffic_manager *tm)
{
    return sw_index_heap_next_ns(&tm->wires);
}

static inline uint32_t sw_tm_next_port(const struct sw_traffic_manager *tm)
{
    return sw_index_heap_first(&tm->wires);
}

/* Removes the packet that the port starts at `now_ns` (its next_ns) from its queue; NULL if no packet may start.
 * Exactly one sw_tm_occupy (with 0 bytes if no packet goes on the wire) must follow before the port is served again. */
struct sw_frame *sw_tm_start(struct sw_traffic_manager *tm, uint32_t port, int64_t now_ns, uint32_t *class_);

/* Puts `bytes` on the wire from `start_ns` on and plans the port's next start; returns the time at which the end of the
 * frame reaches the far side of the link. */
int64_t sw_tm_occupy(struct sw_traffic_manager *tm, uint32_t port, int64_t start_ns, uint32_t bytes);

/* Pauses a class until a time (SW_NEVER: for ever; the present or past: resume). The packet on the wire is finished. */
void sw_tm_pause(struct sw_traffic_manager *tm, uint32_t port, uint32_t class_, int64_t until_ns, int64_t now_ns);

/* Does the same for one queue of a class, counted from 0; nothing happens if there is no such queue. */
void sw_tm_pause_queue(struct sw_traffic_manager *tm, uint32_t port, uint32_t class_, uint32_t queue, int64_t until_ns,
                       int64_t now_ns);

/* Gives a class `count` queues (1 to SW_ROUND_MAX_QUEUES) that send `quantum_bytes` in a turn. Waiting frames keep
 * their order within a queue; pauses of single queues end. Returns 0 or -ENOMEM. */
int sw_tm_set_queues(struct sw_traffic_manager *tm, uint32_t port, uint32_t class_, uint32_t count,
                     uint32_t quantum_bytes, int64_t now_ns);

/* Moves all waiting frames of a port to the end of `lost` and clears its pauses. */
void sw_tm_empty(struct sw_traffic_manager *tm, uint32_t port, struct sw_frame_list *lost, int64_t now_ns);

/* Sets the rate in bits/s, or in packets/s; either replaces the other. 0 means no limit. */
void sw_tm_set_rate(struct sw_traffic_manager *tm, uint32_t port, uint64_t rate_bps);
void sw_tm_set_packet_rate(struct sw_traffic_manager *tm, uint32_t port, uint64_t rate_pps);
/* Limits the packets that wait in each queue of a port. */
void sw_tm_set_depth(struct sw_traffic_manager *tm, uint32_t port, uint32_t most_packets);

#endif /* SW_TRAFFIC_MANAGER_H */
