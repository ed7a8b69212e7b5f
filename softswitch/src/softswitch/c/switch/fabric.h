/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Switches joined by links: the inner loop of a run on the virtual clock. Each switch runs through a window as long as
 * the shortest delay between two switches, in which no switch can affect another one. A departure on a
 * joined port is received by the far switch at its due time without leaving C; a departure on any other ("edge") port
 * is collected for the caller. In a window the switch that was added first runs first. Other languages drive a single
 * switch as a fabric of one.
 *
 * Causality is the caller's duty: it must not run past the earliest time at which a host could answer a departure.
 *
 * The switches may come from different shared objects if these were built from the same sources (sw_fabric_add checks
 * the layout). A switch belongs to one fabric at most and must be destroyed after it.
 */
#ifndef SW_FABRIC_H
#define SW_FABRIC_H

#include "switch/outbox.h"
#include "switch/switch.h"

struct sw_fabric;

/* A frame from outside; its bytes follow those of the previous entry. */
struct sw_entry {
    int64_t time_ns;
    uint32_t index, port; /* the switch's index, and its port */
    int64_t length;       /* bytes stored */
    struct sw_tail tail;
};

_Static_assert(sizeof(struct sw_entry) == 32, "written by softswitch/engine.py's callers");

struct sw_fabric *sw_fabric_create(void);
void sw_fabric_destroy(struct sw_fabric *fabric);

/* A number that identifies the memory layout of a switch in this build; sw_fabric_add compares it. */
uint64_t sw_switch_layout(void);

/* Adds a switch; returns its index or a negative errno: -EINVAL for another layout, -ENOMEM. */
int sw_fabric_add(struct sw_fabric *fabric, struct sw_switch *sw, uint64_t layout);

/* Joins two ports, both directions; rates and delays are the ports' own. -EINVAL unknown, -EBUSY already joined. */
int sw_fabric_connect(struct sw_fabric *fabric, uint32_t a, uint32_t port_a, uint32_t b, uint32_t port_b);

/* Copies the block that contains the bytes of tails. Returns 0 or -ENOMEM. */
int sw_fabric_set_block(struct sw_fabric *fabric, const uint8_t *block, uint32_t n_bytes);
/* The largest sw_program.reach_bytes of all switches. */
uint32_t sw_fabric_reach_bytes(const struct sw_fabric *fabric);
/* Joins a port to a port of a switch in another fabric, which the caller knows as a number: frames that leave by the
 * port are collected for that peer. -EINVAL unknown, -EBUSY already joined, -ENOMEM. */
int sw_fabric_lead(struct sw_fabric *fabric, uint32_t index, uint32_t port, uint32_t peer, uint32_t far_index,
                   uint32_t far_port);
/* The frames collected for a peer since sw_fabric_forget_outgoing, with the far switch and port; NULL if no port leads
 * to the peer. The pointer stays valid. */
const struct sw_outbox *sw_fabric_outgoing(const struct sw_fabric *fabric, uint32_t peer);
void sw_fabric_forget_outgoing(struct sw_fabric *fabric);

/* Copies every frame that arrives at a port or leaves by it from now on, for captures. Returns -EINVAL for an unknown
 * port. A leaving frame has the time at which it reaches the far end of its link, an arriving frame the time at which
 * it was handed over. For a frame between two switches these times are equal. */
int sw_fabric_watch(struct sw_fabric *fabric, uint32_t index, uint32_t port);
/* The copies made since the last sw_fabric_forget_seen: of leaving or of arriving frames. The pointer stays valid. */
const struct sw_outbox *sw_fabric_seen(const struct sw_fabric *fabric, bool leaves);
void sw_fabric_forget_seen(struct sw_fabric *fabric);

/* From now on logs the time, switch and port of every frame that leaves a switch, for a caller that counts frames. */
void sw_fabric_log_departures(struct sw_fabric *fabric);
/* The log, whose records have no bytes. The pointer stays valid. */
const struct sw_outbox *sw_fabric_departures(const struct sw_fabric *fabric);

/* Hands over a frame from outside; `time_ns` must not be before the time already run. Returns < 0 if the frame is
 * refused (and counted). */
int sw_fabric_receive(struct sw_fabric *fabric, uint32_t index, uint32_t port, const uint8_t *bytes, uint32_t len,
                      int64_t time_ns);

/* Hands over many frames in any order, since a switch sorts them by time and port. Returns -EINVAL and receives no
 * frame if the entries do not fill `bytes`, or an entry names an unknown switch or bytes outside the block. */
int sw_fabric_put(struct sw_fabric *fabric, const struct sw_entry *entries, uint64_t count, const uint8_t *bytes,
                  uint64_t n_bytes);

/* The same for frames that another fabric collected for this one. */
int sw_fabric_put_outgoing(struct sw_fabric *fabric, const struct sw_departure *frames, uint64_t count,
                           const uint8_t *bytes, uint64_t n_bytes);

/* Runs all events due by `until_ns`; returns the number of departures in the outbox, which replace those of the last
 * call. */
uint64_t sw_fabric_drain(struct sw_fabric *fabric, int64_t until_ns);

/* The same before the caller knows up to which later time it will drain next. Until then, the clocks of switches and
 * sw_fabric_next_ns are as before. */
uint64_t sw_fabric_run_ahead(struct sw_fabric *fabric, int64_t until_ns);

/* sw_fabric_receive, then sw_fabric_drain to the same time. */
uint64_t sw_fabric_step(struct sw_fabric *fabric, uint32_t index, uint32_t port, const uint8_t *bytes, uint32_t len,
                        int64_t time_ns);

/* Advances the clocks of all switches to the time the fabric has run to, so that telemetry is complete up to then. */
void sw_fabric_settle(struct sw_fabric *fabric);

/* Must be called after commands, which may change the time of a switch's next event. */
void sw_fabric_replan(struct sw_fabric *fabric);

/* The time of the next event, or of the first arrival of a frame that is still to be handed to a peer. */
int64_t sw_fabric_next_ns(const struct sw_fabric *fabric);
const struct sw_outbox *sw_fabric_outbox(const struct sw_fabric *fabric);

#endif /* SW_FABRIC_H */
