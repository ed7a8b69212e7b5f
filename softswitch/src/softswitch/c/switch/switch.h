/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * A v1model switch as a sans-IO engine: its inputs are frames and the time, its outputs departures and the time of its
 * next event. It never reads a clock, opens a socket or uses randomness other than its seeds. There is no global state,
 * so any number of switches with any programs can exist side by side. A switch may be used by one thread only.
 *
 * Times are nanoseconds on the caller's clock; P4 sees microseconds since `epoch_ns` (0 before it). Events of one
 * instant run in this order, which makes a run deterministic to the byte:
 *   1. packets that recirculate or are resubmitted, first in first out;
 *   2. planned commands, in the order in which they were planned;
 *   3. mirror copies of sessions with a delay that reach their queue, lower port first, then in the order of requests;
 *   4. packets that start on a wire, lower port first;
 *   5. frames that waited while the switch was stalled (outage.h), in the order of reception;
 *   6. frames that arrive, lower port first, frames of the same port in the order of reception.
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

/* Returns NULL when out of memory, or if the program was generated for another SW_PROGRAM_ABI. */
struct sw_switch *sw_switch_create(const struct sw_program *program, const struct sw_config *config);
void sw_switch_destroy(struct sw_switch *sw);
void sw_switch_set_output(struct sw_switch *sw, sw_output_fn output, void *ctx);

/* Gives a port (below 512) a device, with a name for show_ports; returns 0 or -EINVAL. */
int sw_switch_attach_port(struct sw_switch *sw, uint32_t port, const char *name);

/* Hands over a frame that was received at `time_ns` (its bytes are copied); it enters ingress one ingress delay later,
 * or at once if that time has passed. Refusals (bad port: -EINVAL, bad length, memory) are counted and return < 0. */
int sw_switch_receive(struct sw_switch *sw, uint32_t port, const uint8_t *bytes, uint32_t len, int64_t time_ns);

/* The same for a frame of which only `len` bytes are stored. The switch needs sw_switch_set_block. */
int sw_switch_receive_tailed(struct sw_switch *sw, uint32_t port, const uint8_t *bytes, uint32_t len,
                             struct sw_tail tail, int64_t time_ns);
/* Sets the block that contains the bytes of tails; it must outlive the switch. */
void sw_switch_set_block(struct sw_switch *sw, const uint8_t *block);

/* Receives without a copy: returns a packet with room for `bytes`, to be filled at buffer + head; NULL when out of
 * memory. */
struct sw_packet *sw_switch_acquire(struct sw_switch *sw, uint32_t bytes);
void sw_switch_release(struct sw_switch *sw, struct sw_packet *packet);
/* Receives the packet and takes ownership of it, even if it is refused. */
int sw_switch_receive_packet(struct sw_switch *sw, uint32_t port, struct sw_packet *packet, int64_t time_ns);

/* Receives a packet that departed from another switch and takes ownership of it; does not copy it if sw_switch_share
 * allows that. */
int sw_switch_receive_from(struct sw_switch *sw, uint32_t port, struct sw_switch *from, struct sw_packet *packet,
                           int64_t time_ns);
/* Lets a switch that holds no packets share the packet memory of another; from then on one thread must drive both. */
void sw_switch_share(struct sw_switch *sw, const struct sw_switch *other);

/* Runs every event due by `now_ns` in order and leaves the clock at the last one. */
void sw_switch_run(struct sw_switch *sw, int64_t now_ns);
/* The same, and advances the clock to `now_ns`. Frames received later are processed after those events. */
void sw_switch_advance(struct sw_switch *sw, int64_t now_ns);
/* The same, but returns false without advancing the clock to `now_ns` after many recirculated packets, if more of them
 * wait for the next call. */
bool sw_switch_advance_some(struct sw_switch *sw, int64_t now_ns);

/* The next event, SW_NEVER when there is none. */
int64_t sw_switch_next_ns(const struct sw_switch *sw);

/* Port settings of the control commands. All return -EINVAL for an invalid port. */
int sw_switch_set_rate(struct sw_switch *sw, uint32_t port, uint64_t rate_bps);
int sw_switch_set_delay(struct sw_switch *sw, uint32_t port, int64_t delay_ns);
int sw_switch_set_ingress_delay(struct sw_switch *sw, uint32_t port, int64_t delay_ns);
/* A port whose link is down loses the frames it sends and the frames that arrive. */
int sw_switch_set_link(struct sw_switch *sw, uint32_t port, bool is_up);
/* Sets an impairment of the port's link for leaving or arriving frames; a rate of 0 switches the kind off. */
int sw_switch_set_impairment(struct sw_switch *sw, uint32_t port, bool leaving, enum sw_impairment_kind kind,
                             const struct sw_impairment *impairment);
/* Sets the rate in packets/s, whatever their size, instead of bits/s. */
int sw_switch_set_packet_rate(struct sw_switch *sw, uint32_t port, uint64_t rate_pps);
/* Limits the packets that wait in each queue of a port. */
int sw_switch_set_depth(struct sw_switch *sw, uint32_t port, uint32_t most_packets);
int sw_switch_set_queues(struct sw_switch *sw, uint32_t port, uint32_t class_, uint32_t count, uint32_t quantum_bytes);

/* The shape that something outside the switch gives to the link of a port. */
struct sw_link_shape {
    uint64_t rate_bps; /* 0: no limit */
    int64_t delay_ns;
};
/* Gives a port the rate and delay of its link, and with a rate a depth of SW_LINK_DEPTH packets. What a command has set
 * for the port stays. Returns whether anything changed. */
#define SW_LINK_DEPTH 64u
bool sw_switch_follow_link(struct sw_switch *sw, uint32_t port, const struct sw_link_shape *shape);

/* The depth of a port's queues; UINT32_MAX: no limit. */
uint32_t sw_switch_depth(const struct sw_switch *sw, uint32_t port);
int64_t sw_switch_delay_ns(const struct sw_switch *sw, uint32_t port);
uint64_t sw_switch_rate_bps(const struct sw_switch *sw, uint32_t port);

/* Events that only the owner of the devices can report. */
void sw_switch_count_drop(struct sw_switch *sw, uint32_t port, enum sw_drop reason);
void sw_switch_count_kernel_drops(struct sw_switch *sw, uint32_t port, uint64_t frames);
struct sw_lateness *sw_switch_departure_lateness(struct sw_switch *sw);
struct sw_lateness *sw_switch_ingress_lateness(struct sw_switch *sw);
struct sw_spacing *sw_switch_spacing(struct sw_switch *sw);

/* Adds one line of JSON, without a newline; keys are documented in statistics.c. */
void sw_switch_statistics(const struct sw_switch *sw, struct sw_text *out);

/* The name of a reason in statistics and in the command drops_read. */
const char *sw_drop_name(enum sw_drop reason);

/* Returns and forgets the telemetry records (telemetry.h) of the intervals that have ended; they stay valid until the
 * next call that advances the clock. */
struct sw_telemetry_record;
size_t sw_switch_telemetry(struct sw_switch *sw, const struct sw_telemetry_record **records);
/* Writes the last rows of links (telemetry.h). Call this when no more frame will come. */
void sw_switch_end_links(struct sw_switch *sw);

struct sw_pipeline *sw_switch_pipeline(struct sw_switch *sw);

#endif /* SW_SWITCH_H */
