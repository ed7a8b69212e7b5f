/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Outages of a whole switch: a loss of power, or a stall. A switch without power loses its packets and its program
 * state, except for the parts that its control plane restores (tables, sessions, ports). Frames that reach it are lost.
 * A stalled switch starts no packet on any wire and lets none into its pipeline. Frames then wait in a receive ring
 * per port, and are lost if the ring is full. The MACs still obey pause frames. Must not know the cause or duration of
 * an outage.
 */
#ifndef SW_OUTAGE_H
#define SW_OUTAGE_H

#include "traffic/packet_pool.h"

struct sw_switch;

struct sw_outage {
    bool is_off, is_still;
    bool is_on;                      /* whether either outage is in effect; checked for every packet */
    uint32_t ring_frames;            /* capacity of the receive ring of a port, in frames */
    uint32_t waiting[SW_PORT_COUNT]; /* frames that wait, by port */
    struct sw_frame_list ring;       /* waiting frames of all ports, in the order of arrival */
    uint64_t ring_bytes;             /* size of the waiting frames */
    int64_t resumes_ns;              /* time at which waiting frames go on; SW_NEVER: none wait, or still stalled */
    struct sw_pipeline **past;       /* registers and counters as they were at each loss of power */
    uint32_t n_past;
};

void sw_outage_init(struct sw_outage *outage);
/* Frees the state of a switch that is being destroyed. */
void sw_outage_free(struct sw_outage *outage);

/* Cuts the power: all packets and the program's state are lost; statistics stay. Returns 0 or -ENOMEM. */
int sw_outage_power_off(struct sw_switch *sw);
void sw_outage_power_on(struct sw_switch *sw);

void sw_outage_stand_still(struct sw_switch *sw, uint32_t ring_frames);
void sw_outage_go_on(struct sw_switch *sw);

/* Takes a frame that arrives while `is_on`. */
void sw_outage_take(struct sw_switch *sw, struct sw_frame *frame);
/* Processes the first waiting frame, once `resumes_ns` has come. */
struct sw_frame *sw_outage_pop(struct sw_switch *sw);

/* The pipeline as it was at loss of power number `life`, counted from 0; NULL if there was no such loss. */
struct sw_pipeline *sw_outage_past(const struct sw_switch *sw, uint64_t number);

#endif /* SW_OUTAGE_H */
