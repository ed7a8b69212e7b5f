/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * What a switch is made of: shared by the files of switch/, v1model/ and control/, hidden from users of switch.h.
 */
#ifndef SW_SWITCH_STATE_H
#define SW_SWITCH_STATE_H

#include "traffic/arrivals.h"
#include "traffic/packet_pool.h"
#include "v1model/replication.h"
#include "switch/switch.h"
#include "traffic/telemetry.h"
#include "traffic/traffic_manager.h"

struct sw_control_shadow;

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
    uint64_t malformed; /* packets that the parser ended with an error */
};

struct sw_switch {
    const struct sw_program *program;
    struct sw_pipeline *pipeline;
    struct sw_packet_pool pool;
    struct sw_arrivals arrivals;
    struct sw_frame_list loopback; /* recirculated and resubmitted: go first */
    struct sw_traffic_manager tm;
    struct sw_replication replication;
    struct sw_telemetry telemetry;
    struct sw_target_counters counters;
    struct sw_lateness departure_lateness, ingress_lateness;
    struct sw_control_shadow *shadow; /* what control commands put into tables, for table_dump */
    char *port_names[SW_PORT_COUNT];
    int64_t now_ns, epoch_ns;
    sw_output_fn output;
    void *output_ctx;
};

static inline uint64_t sw_switch_us(const struct sw_switch *sw)
{
    return sw->now_ns > sw->epoch_ns ? (uint64_t)(sw->now_ns - sw->epoch_ns) / 1000 : 0;
}

/* Ends a packet's life with a reason. */
void sw_switch_drop(struct sw_switch *sw, struct sw_frame *frame, uint32_t port, enum sw_drop reason);

/* v1model.c: one pass of a packet, and everything that follows from it at this instant. */
void sw_v1model_ingress(struct sw_switch *sw, struct sw_frame *frame);
void sw_v1model_egress(struct sw_switch *sw, uint32_t port);

/* mac_control.c: true when the frame was the MAC's (it is then released). */
bool sw_mac_control_receive(struct sw_switch *sw, struct sw_frame *frame);

/* shadow.c */
void sw_control_shadow_free(struct sw_switch *sw);

#endif /* SW_SWITCH_STATE_H */
