/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Switches joined by links, run in global time order: the inner loop of a run on the virtual clock. A departure on a
 * joined port is received by the far switch at its due time without leaving C; a departure on any other ("edge") port
 * is gathered for the caller. Ties between switches go to the one that was added first. A fabric of one switch is how
 * a foreign language drives a single switch.
 *
 * Causality is the caller's: it runs up to a time before which nobody could answer what the call brings.
 *
 * The switches may come from different shared objects if these were built from the same sources (sw_fabric_add checks
 * the layout). A switch belongs to one fabric at most and must be destroyed after it.
 */
#ifndef SW_FABRIC_H
#define SW_FABRIC_H

#include "switch/outbox.h"
#include "switch/switch.h"

struct sw_fabric;

/* A frame from outside, its bytes behind those of the entry before. */
struct sw_entry {
    int64_t time_ns;
    uint32_t index, port; /* of the switch, and there */
    int64_t length;
};

_Static_assert(sizeof(struct sw_entry) == 24, "written by softswitch/engine.py's callers");

struct sw_fabric *sw_fabric_create(void);
void sw_fabric_destroy(struct sw_fabric *fabric);

/* What sw_fabric_add compares: the layout of a switch of this build. */
uint64_t sw_switch_layout(void);

/* The switch's index, or a negative errno: -EINVAL for another layout, -ENOMEM. */
int sw_fabric_add(struct sw_fabric *fabric, struct sw_switch *sw, uint64_t layout);

/* Joins two ports, both directions; rates and delays are the ports' own. -EINVAL unknown, -EBUSY already joined. */
int sw_fabric_connect(struct sw_fabric *fabric, uint32_t a, uint32_t port_a, uint32_t b, uint32_t port_b);

/* From now on copies every frame that arrives at a port or leaves by it, for whoever wants to look at wires. -EINVAL
 * unknown. A frame that leaves has the time at which it is across its link, one that arrives that at which it was
 * handed over: of a frame between two switches these are the same. */
int sw_fabric_watch(struct sw_fabric *fabric, uint32_t index, uint32_t port);
/* The copies made since they were forgotten: of those that leave or of those that arrive. The pointer stays valid. */
const struct sw_outbox *sw_fabric_seen(const struct sw_fabric *fabric, bool leaves);
void sw_fabric_forget_seen(struct sw_fabric *fabric);

/* From now on logs the time, switch and port of every frame that leaves a switch, for a caller that counts frames. */
void sw_fabric_log_departures(struct sw_fabric *fabric);
/* The log, whose records have no bytes. The pointer stays valid. */
const struct sw_outbox *sw_fabric_departures(const struct sw_fabric *fabric);

/* A frame from outside; `time_ns` must not lie before what was advanced to. < 0 when refused (and counted). */
int sw_fabric_receive(struct sw_fabric *fabric, uint32_t index, uint32_t port, const uint8_t *bytes, uint32_t len,
                      int64_t time_ns);

/* The same for many, in any order: a switch sorts by time and port. -EINVAL, with nothing received, where they do not
 * fill `bytes`, or one names a switch that is not there. */
int sw_fabric_put(struct sw_fabric *fabric, const struct sw_entry *entries, uint64_t count, const uint8_t *bytes,
                  uint64_t n_bytes);

/* Runs all events due by `until_ns`; returns the number of departures in the outbox, which replace those of the call
 * before. */
uint64_t sw_fabric_drain(struct sw_fabric *fabric, int64_t until_ns);

/* sw_fabric_receive, then sw_fabric_drain to the same time. */
uint64_t sw_fabric_step(struct sw_fabric *fabric, uint32_t index, uint32_t port, const uint8_t *bytes, uint32_t len,
                        int64_t time_ns);

/* Lets the clocks of all switches reach what the fabric was advanced to, so that telemetry is complete up to there. */
void sw_fabric_settle(struct sw_fabric *fabric);

/* After commands: a switch may have something to do at another time than before. */
void sw_fabric_replan(struct sw_fabric *fabric);

int64_t sw_fabric_next_ns(const struct sw_fabric *fabric);
const struct sw_outbox *sw_fabric_outbox(const struct sw_fabric *fabric);

#endif /* SW_FABRIC_H */
