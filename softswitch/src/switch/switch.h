/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * A v1model switch as a sans-IO engine: it is handed frames and the time, and hands back departures and the time of its
 * next event. It never reads a clock, opens a socket or draws a random number of its own. No global state: any number
 * of switches, of any programs, live side by side; one switch belongs to one thread.
 *
 * Times are nanoseconds on the caller's clock; P4 sees microseconds since `epoch_ns` (0 before it). Events of one
 * instant run in this order, which makes a run deterministic to the byte:
 *   1. packets that recirculate or are resubmitted, first in first out;
 *   2. planned commands, in the order in which they were planned;
 *   3. mirror copies whose session has a delay and that reach their queue, lower port first, then as they were asked
 * for;
 *   4. packets that start on a wire, lower port first;
 *   5. frames that waited while the switch stood still (outage.h), in the order of reception;
 *   6. frames that arrive, lower port first, those of a port in the order of reception.
 */
#ifndef SW_SWITCH_H
#define SW_SWITCH_H

#include "common/index_heap.h"
#include "common/lateness.h"
#include "common/spacing.h"
#include "common/text.h"
#include "traffic/impairment.h"
#include "v1model/v1model.h"

struct sw_switch;

/* NULL when out of memory, or the program was generated for another SW_PROGRAM_ABI. */
struct sw_switch *sw_switch_create(const struct sw_program *program, const struct sw_config *config);
void sw_switch_destroy(struct sw_switch *sw);
void sw_switch_set_output(struct sw_switch *sw, sw_output_fn output, void *ctx);

/* Gives a port (below 510) a device, with a name for people; 0 or -EINVAL. */
int sw_switch_attach_port(struct sw_switch *sw, uint32_t port, const char *name);

/* Hands over a frame that was received at `time_ns` (its bytes are copied); it enters ingress one ingress delay later,
 * or at once if that has passed. Refusals (bad port: -EINVAL, bad length, memory) are counted and return < 0. */
int sw_switch_receive(struct sw_switch *sw, uint32_t port, const uint8_t *bytes, uint32_t len, int64_t time_ns);

/* The same without a copy: a packet with room for `bytes` to be filled at buffer + head; NULL when out of memory. */
struct sw_packet *sw_switch_acquire(struct sw_switch *sw, uint32_t bytes);
void sw_switch_release(struct sw_switch *sw, struct sw_packet *packet);
/* Takes the packet over, also when it refuses it. */
int sw_switch_receive_packet(struct sw_switch *sw, uint32_t port, struct sw_packet *packet, int64_t time_ns);

/* sw_switch_receive of a packet that another switch put out, which is taken over; not copied where sw_switch_share
 * allows that. */
int sw_switch_receive_from(struct sw_switch *sw, uint32_t port, struct sw_switch *from, struct sw_packet *packet,
                           int64_t time_ns);
/* Has a switch that holds no packets use memory of another's for them; one thread must drive both, for ever. */
void sw_switch_share(struct sw_switch *sw, const struct sw_switch *other);

/* Runs every event due by `now_ns` in order. What is received later counts as arriving after those events. */
void sw_switch_advance(struct sw_switch *sw, int64_t now_ns);

/* The next event, SW_NEVER when there is none. */
int64_t sw_switch_next_ns(const struct sw_switch *sw);
int64_t sw_switch_now_ns(const struct sw_switch *sw);

/* Ports: what the control commands set. -EINVAL for a port that cannot be. */
int sw_switch_set_rate(struct sw_switch *sw, uint32_t port, uint64_t rate_bps);
int sw_switch_set_delay(struct sw_switch *sw, uint32_t port, int64_t delay_ns);
int sw_switch_set_ingress_delay(struct sw_switch *sw, uint32_t port, int64_t delay_ns);
/* A port whose link is down loses what it sends and what arrives. */
int sw_switch_set_link(struct sw_switch *sw, uint32_t port, bool is_up);
/* What the port's link does to frames that leave by it, or to those that arrive; a rate of 0 ends a kind. */
int sw_switch_set_impairment(struct sw_switch *sw, uint32_t port, bool leaving, enum sw_impairment_kind kind,
                             const struct sw_impairment *impairment);
int64_t sw_switch_delay_ns(const struct sw_switch *sw, uint32_t port);
uint64_t sw_switch_rate_bps(const struct sw_switch *sw, uint32_t port);

/* What only the owner of the devices knows. */
void sw_switch_count_drop(struct sw_switch *sw, uint32_t port, enum sw_drop reason);
void sw_switch_count_kernel_drops(struct sw_switch *sw, uint32_t port, uint64_t frames);
struct sw_lateness *sw_switch_departure_lateness(struct sw_switch *sw);
struct sw_lateness *sw_switch_ingress_lateness(struct sw_switch *sw);
struct sw_spacing *sw_switch_spacing(struct sw_switch *sw);

/* Adds one line of JSON, without a newline; keys are documented in statistics.c. */
void sw_switch_statistics(const struct sw_switch *sw, struct sw_text *out);

/* The name of a reason in statistics and in the command drops_read. */
const char *sw_drop_name(enum sw_drop reason);

/* Takes the telemetry records (telemetry.h) of the intervals that have ended; they stay valid until the next call that
 * lets time pass. */
struct sw_telemetry_record;
size_t sw_switch_telemetry(struct sw_switch *sw, const struct sw_telemetry_record **records);

struct sw_pipeline *sw_switch_pipeline(struct sw_switch *sw);

#endif /* SW_SWITCH_H */
