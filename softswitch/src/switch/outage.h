/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * What a switch as a whole suffers: it is without power, or stands still. Without power it holds nothing and remembers
 * nothing but what its control plane puts back (tables, sessions, ports); what reaches it is lost. While it stands
 * still it starts no packet on any wire and lets none into its pipeline: frames wait in a receive ring for each port,
 * and those that find it full are lost. Its MACs go on obeying pause frames. It knows packets, not who asks for it, nor
 * for how long.
 */
#ifndef SW_OUTAGE_H
#define SW_OUTAGE_H

#include "traffic/packet_pool.h"

struct sw_switch;

struct sw_outage {
    bool is_off, is_still;
    bool is_on;                      /* one of the two: what is asked for every packet */
    uint32_t ring_frames;            /* how many may wait on a port */
    uint32_t waiting[SW_PORT_COUNT]; /* how many do */
    struct sw_frame_list ring;       /* of all ports, in the order of arrival */
    uint64_t ring_bytes;             /* what they count for */
    int64_t resumes_ns;              /* since when they may go on; SW_NEVER: there are none, or it stands still */
    struct sw_pipeline **past;       /* registers and counters as each loss of power found them */
    uint32_t n_past;
};

void sw_outage_init(struct sw_outage *outage);
/* Of a switch that is being destroyed. */
void sw_outage_free(struct sw_outage *outage);

/* All that it holds is lost, its program's state too; what it counted stays to be read. 0 or -ENOMEM. */
int sw_outage_power_off(struct sw_switch *sw);
void sw_outage_power_on(struct sw_switch *sw);

void sw_outage_stand_still(struct sw_switch *sw, uint32_t ring_frames);
void sw_outage_go_on(struct sw_switch *sw);

/* Takes a frame that arrives while `is_on`. */
void sw_outage_take(struct sw_switch *sw, struct sw_frame *frame);
/* The first that waited, once `resumes_ns` has come. */
struct sw_frame *sw_outage_pop(struct sw_switch *sw);

/* The pipeline of a life that a loss of power ended, counted from 0; NULL when there was none. */
struct sw_pipeline *sw_outage_past(const struct sw_switch *sw, uint64_t number);

#endif /* SW_OUTAGE_H */
