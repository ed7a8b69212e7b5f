/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The data that the passes of a packet work on: the program's pipeline, memory, queues, copies, the present time and
 * counters. Reception of frames and the passing of time belong to the switch, which owns the target.
 */
#ifndef SW_TARGET_H
#define SW_TARGET_H

#include "traffic/arrivals.h"
#include "traffic/packet_pool.h"
#include "traffic/telemetry.h"
#include "traffic/traffic_manager.h"
#include "v1model/replication.h"
#include "v1model/v1model.h"

struct sw_port_counters {
    uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;
    uint64_t kernel_drops;
    uint64_t pause_frames;        /* received 802.3x and 802.1Qbb */
    uint64_t mac_control_ignored; /* received, neither of the two or cut short */
    uint64_t drops[SW_DROP_COUNT];
};

struct sw_target_counters {
    struct sw_port_counters ports[SW_PORT_COUNT];
    uint64_t ingress_clones, egress_clones, clones_without_session;
    uint64_t multicast_copies, recirculated, resubmitted;
    uint64_t malformed;  /* packets that the parser ended with an error */
    uint64_t duplicated; /* copies that links made */
};

/* The place and reason of a packet's end, for drops_read. Places are positions in the program, NULL if unknown. */
struct sw_drop_note {
    enum sw_drop reason;
    uint32_t port;
    const char *at, *in;
};

#define SW_DROP_NOTES 64u

/* The passes of a packet and its copies. */
struct sw_family {
    uint32_t number, passes;
};

#define SW_FAMILIES 256u

struct sw_target {
    const struct sw_program *program;
    struct sw_pipeline *pipeline;
    struct sw_packet_pool pool;
    struct sw_frame_list loopback; /* recirculated and resubmitted packets, which go first */
    struct sw_arrivals copies;     /* copies of mirroring sessions with a delay, on their way to a queue */
    struct sw_traffic_manager tm;
    struct sw_replication replication;
    struct sw_telemetry telemetry;
    struct sw_target_counters counters;
    struct sw_drop_note drop_notes[SW_DROP_NOTES]; /* a ring of the latest drops */
    uint64_t n_drop_notes;                         /* drops since the last drops_read */
    struct sw_family families[SW_FAMILIES];        /* of the latest numbers; each new family replaces an old one */
    uint32_t last_family;
    const uint8_t *block; /* contains the bytes of packets' tails; or NULL */
    int64_t now_ns, epoch_ns;
    sw_output_fn output;
    void *output_ctx;
};

/* Returns 0 or -ENOMEM; free accepts a target whose init failed midway. */
int sw_target_init(struct sw_target *target, const struct sw_program *program, const struct sw_config *config);
void sw_target_free(struct sw_target *target);

/* The present time as P4 sees it. */
static inline uint64_t sw_target_us(const struct sw_target *target)
{
    return target->now_ns > target->epoch_ns ? (uint64_t)(target->now_ns - target->epoch_ns) / 1000 : 0;
}

/* Count a packet's end; the second function also releases the packet. */
void sw_target_count_drop(struct sw_target *target, uint32_t port, enum sw_drop reason);
void sw_target_drop(struct sw_target *target, struct sw_frame *frame, uint32_t port, enum sw_drop reason);

/*
 * Applies a link's impairments to a frame that is due at its time_ns. Returns false if the frame is lost (counted and
 * released). Otherwise time_ns is the new due time, and `*copy` is a duplicate or NULL.
 */
bool sw_target_impair(struct sw_target *target, struct sw_impairments *impairments, uint32_t port,
                      struct sw_frame *frame, struct sw_frame **copy);

#endif /* SW_TARGET_H */
