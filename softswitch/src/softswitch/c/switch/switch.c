/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "switch/switch_state.h"
#include "v1model/mac_control.h"
#include "v1model/passes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_AGAIN 4096u /* recirculated packets between two looks at control commands and signals */

struct sw_switch *sw_switch_create(const struct sw_program *program, const struct sw_config *config)
{
    struct sw_switch *sw;

    if (program->abi != SW_PROGRAM_ABI)
        return NULL;
    sw = calloc(1, sizeof(*sw));
    if (!sw)
        return NULL;
    sw_outage_init(&sw->outage);
    if (sw_target_init(&sw->target, program, config) == 0)
        sw->shadow = sw_shadow_create(program);
    if (!sw->shadow) {
        sw_switch_destroy(sw);
        return NULL;
    }
    return sw;
}

void sw_switch_destroy(struct sw_switch *sw)
{
    if (!sw)
        return;
    for (uint32_t port = 0; port < SW_PORT_COUNT; port++)
        free(sw->port_names[port]);
    sw_shadow_destroy(sw->shadow);
    sw_outage_free(&sw->outage);
    sw_schedule_free(&sw->schedule);
    sw_arrivals_free(&sw->arrivals);
    sw_target_free(&sw->target);
    free(sw);
}

void sw_switch_set_output(struct sw_switch *sw, sw_output_fn output, void *ctx)
{
    sw->target.output = output;
    sw->target.output_ctx = ctx;
}

void sw_switch_set_block(struct sw_switch *sw, const uint8_t *block)
{
    sw->target.block = block;
}

/* Whether frames may arrive at a port. Ports 510 and 511 exist only with a device. */
static bool has_port(const struct sw_switch *sw, uint32_t port)
{
    return port < SW_RECIRCULATION_PORT || (port < SW_PORT_COUNT && sw->target.tm.ports[port].has_device);
}

int sw_switch_attach_port(struct sw_switch *sw, uint32_t port, const char *name)
{
    char *copy;

    if (port >= SW_PORT_COUNT)
        return -EINVAL;
    copy = strdup(name);
    if (!copy)
        return -ENOMEM;
    free(sw->port_names[port]);
    sw->port_names[port] = copy;
    sw->target.tm.ports[port].has_device = true;
    return 0;
}

struct sw_packet *sw_switch_acquire(struct sw_switch *sw, uint32_t bytes)
{
    struct sw_frame *frame = sw_pool_acquire(&sw->target.pool, bytes);

    return frame ? &frame->packet : NULL;
}

void sw_switch_release(struct sw_switch *sw, struct sw_packet *packet)
{
    sw_pool_release(&sw->target.pool, sw_frame_of(packet));
}

void sw_switch_count_drop(struct sw_switch *sw, uint32_t port, enum sw_drop reason)
{
    sw_target_count_drop(&sw->target, port, reason);
}

/* Schedules a frame to enter ingress at its time_ns; takes ownership of it. */
static int queue_arrival(struct sw_switch *sw, struct sw_frame *frame)
{
    if (sw_arrivals_push(&sw->arrivals, frame) < 0) {
        sw_target_drop(&sw->target, frame, frame->port, SW_DROP_MEMORY);
        return -ENOMEM;
    }
    return 0;
}

int sw_switch_receive_packet(struct sw_switch *sw, uint32_t port, struct sw_packet *packet, int64_t time_ns)
{
    struct sw_frame *frame = sw_frame_of(packet);

    if (!has_port(sw, port)) {
        sw_pool_release(&sw->target.pool, frame);
        return -EINVAL;
    }
    sw->target.counters.ports[port].rx_packets++;
    sw->target.counters.ports[port].rx_bytes += sw_packet_bytes(packet);
    if (packet->len == 0 && !sw->target.tm.ports[port].carries_empty) {
        sw_target_drop(&sw->target, frame, port, SW_DROP_BAD_LENGTH);
        return -EMSGSIZE;
    }
    if (sw->target.pool.bytes_in_use > sw->target.pool.limit_bytes) {
        sw_target_drop(&sw->target, frame, port, SW_DROP_MEMORY);
        return -ENOBUFS;
    }
    frame->port = (uint16_t)port;
    frame->length = sw_packet_bytes(packet);
    frame->time_ns = time_ns + sw->target.tm.ports[port].ingress_delay_ns;
    return queue_arrival(sw, frame);
}

/* Counts a frame that never became a packet. */
static int refuse(struct sw_switch *sw, uint32_t port, uint32_t len, enum sw_drop reason)
{
    sw->target.counters.ports[port].rx_packets++;
    sw->target.counters.ports[port].rx_bytes += len;
    sw_switch_count_drop(sw, port, reason);
    return reason == SW_DROP_MEMORY ? -ENOBUFS : -EMSGSIZE;
}

int sw_switch_receive(struct sw_switch *sw, uint32_t port, const uint8_t *bytes, uint32_t len, int64_t time_ns)
{
    return sw_switch_receive_tailed(sw, port, bytes, len, (struct sw_tail){0}, time_ns);
}

int sw_switch_receive_tailed(struct sw_switch *sw, uint32_t port, const uint8_t *bytes, uint32_t len,
                             struct sw_tail tail, int64_t time_ns)
{
    struct sw_packet *packet;

    if (!has_port(sw, port))
        return -EINVAL;
    if ((len == 0 && !sw->target.tm.ports[port].carries_empty) || len > SW_FRAME_MAX_BYTES)
        return refuse(sw, port, len, SW_DROP_BAD_LENGTH);
    packet = sw_switch_acquire(sw, len);
    if (!packet)
        return refuse(sw, port, len, SW_DROP_MEMORY);
    memcpy(packet->buffer + packet->head, bytes, len);
    packet->tail = tail;
    return sw_switch_receive_packet(sw, port, packet, time_ns);
}

int sw_switch_receive_from(struct sw_switch *sw, uint32_t port, struct sw_switch *from, struct sw_packet *packet,
                           int64_t time_ns)
{
    int result;

    if (sw_pool_move(&from->target.pool, &sw->target.pool, sw_frame_of(packet)))
        return sw_switch_receive_packet(sw, port, packet, time_ns);
    result = sw_switch_receive_tailed(sw, port, packet->buffer + packet->head, packet->len, packet->tail, time_ns);
    sw_switch_release(from, packet);
    return result;
}

void sw_switch_share(struct sw_switch *sw, const struct sw_switch *other)
{
    sw_pool_share(&sw->target.pool, &other->target.pool);
}

/* Advances the clock, which never goes back: a frame with an earlier time is processed now. */
static void set_time(struct sw_switch *sw, int64_t time_ns)
{
    if (time_ns <= sw->target.now_ns)
        return;
    sw_telemetry_advance(&sw->target.telemetry, &sw->target.tm, time_ns);
    sw->target.now_ns = time_ns;
}

/* Lets a frame into the pipeline. */
static void enter(struct sw_switch *sw, struct sw_frame *frame)
{
    struct sw_standard_metadata *std;

    if (!sw_pool_lend_phv(&sw->target.pool, frame)) {
        sw_target_drop(&sw->target, frame, frame->port, SW_DROP_MEMORY);
        return;
    }
    std = &frame->packet.phv->std;
    std->ingress_port = frame->port;
    std->packet_length = frame->length;
    std->ingress_global_timestamp = sw_target_us(&sw->target);
    if (SW_LOGS)
        sw_log_enter(sw->target.pipeline, &frame->packet);
    sw_v1model_ingress(&sw->target, frame);
}

/* Handles a frame that has reached the port. */
static void admit(struct sw_switch *sw, struct sw_frame *frame)
{
    const struct sw_port *port = &sw->target.tm.ports[frame->port];

    if (port->is_down) {
        sw_target_drop(&sw->target, frame, frame->port, SW_DROP_LINK_DOWN);
        return;
    }
    if (sw->outage.is_on) {
        sw_outage_take(sw, frame);
        return;
    }
    if (port->decodes_mac_control && sw_mac_control_receive(&sw->target, frame))
        return;
    enter(sw, frame);
}

/* Handles the frame now, or later if its link delays it. */
static void arrive_past_link(struct sw_switch *sw, struct sw_frame *frame)
{
    frame->is_past_link = true;
    if (frame->time_ns > sw->target.now_ns)
        queue_arrival(sw, frame);
    else
        admit(sw, frame);
}

/* Counts the bytes of a frame that reaches its port, where a dead link loses it. */
static void count_arrival(struct sw_switch *sw, const struct sw_frame *frame)
{
    struct sw_telemetry *telemetry = &sw->target.telemetry;

    if (sw->target.tm.ports[frame->port].is_down && frame->time_ns <= sw->target.now_ns)
        sw_telemetry_lose(telemetry, frame->port, frame->length);
    else
        sw_telemetry_count(telemetry, frame->port, frame->length, 0);
}

/* Applies the link's impairments when the frame reaches the end of the link, not when it is handed over. The result
 * therefore does not depend on how far ahead frames are handed over. */
static void arrive(struct sw_switch *sw, struct sw_frame *frame)
{
    uint32_t port = frame->port, length = frame->length;
    struct sw_impairments *impairments = sw->target.tm.ports[port].arriving;
    struct sw_frame *copy = NULL;

    if (frame->is_past_link) {
        admit(sw, frame);
        return;
    }
    if (!impairments) {
        count_arrival(sw, frame);
        admit(sw, frame);
        return;
    }
    if (!sw_target_impair(&sw->target, impairments, port, frame, &copy)) {
        sw_telemetry_lose(&sw->target.telemetry, port, length);
        return;
    }
    count_arrival(sw, frame);
    arrive_past_link(sw, frame);
    if (copy) {
        sw->target.counters.ports[port].rx_packets++;
        sw->target.counters.ports[port].rx_bytes += sw_packet_bytes(&copy->packet);
        copy->length = sw_packet_bytes(&copy->packet);
        count_arrival(sw, copy);
        arrive_past_link(sw, copy);
    }
}

/* The times of the next events, in the order in which events of one instant run; SW_NEVER without an event. */
struct next {
    int64_t planned_ns, copy_ns, wire_ns, resumes_ns, arrival_ns;
};

/* A stalled switch starts no packet on a wire, and no delayed copy reaches its queue. */
static inline struct next next_events(const struct sw_switch *sw)
{
    bool is_still = sw->outage.is_still;

    return (struct next){
        .planned_ns = sw_schedule_next_ns(&sw->schedule),
        .copy_ns = is_still ? SW_NEVER : sw_arrivals_next_ns(&sw->target.copies),
        .wire_ns = is_still ? SW_NEVER : sw_tm_next_ns(&sw->target.tm),
        .resumes_ns = sw->outage.resumes_ns,
        .arrival_ns = sw_arrivals_next_ns(&sw->arrivals),
    };
}

static inline int64_t earlier(int64_t a_ns, int64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

static inline int64_t first_ns(struct next next)
{
    int64_t packet_ns = earlier(next.wire_ns, next.arrival_ns);

    return earlier(packet_ns, earlier(next.planned_ns, earlier(next.copy_ns, next.resumes_ns)));
}

/* Runs the events up to a time. Returns false if packets remain that recirculate after `most_again` others. */
static bool run(struct sw_switch *sw, int64_t now_ns, uint64_t most_again)
{
    for (;;) {
        struct next next = next_events(sw);
        int64_t next_ns = first_ns(next);

        if (sw->target.loopback.head) {
            if (!most_again--)
                return false;
            sw_v1model_ingress(&sw->target, sw_frame_list_pop(&sw->target.loopback));
            continue;
        }
        if (next_ns == SW_NEVER || next_ns > now_ns)
            return true;
        set_time(sw, next_ns);
        if (next_ns == next.planned_ns)
            sw_schedule_run_next(&sw->schedule, sw);
        else if (next_ns == next.copy_ns)
            sw_v1model_copy(&sw->target);
        else if (next_ns == next.wire_ns)
            sw_v1model_egress(&sw->target, sw_tm_next_port(&sw->target.tm));
        else if (next_ns == next.resumes_ns)
            enter(sw, sw_outage_pop(sw));
        else
            arrive(sw, sw_arrivals_pop(&sw->arrivals));
    }
}

void sw_switch_run(struct sw_switch *sw, int64_t now_ns)
{
    run(sw, now_ns, UINT64_MAX);
}

void sw_switch_advance(struct sw_switch *sw, int64_t now_ns)
{
    sw_switch_run(sw, now_ns);
    set_time(sw, now_ns);
}

bool sw_switch_advance_some(struct sw_switch *sw, int64_t now_ns)
{
    bool is_done = run(sw, now_ns, MOST_AGAIN);

    if (is_done)
        set_time(sw, now_ns);
    return is_done;
}

int64_t sw_switch_next_ns(const struct sw_switch *sw)
{
    return first_ns(next_events(sw));
}

int sw_switch_set_rate(struct sw_switch *sw, uint32_t port, uint64_t rate_bps)
{
    if (!has_port(sw, port))
        return -EINVAL;
    sw_tm_set_rate(&sw->target.tm, port, rate_bps);
    sw->target.tm.ports[port].keeps_rate = true;
    return 0;
}

int sw_switch_set_packet_rate(struct sw_switch *sw, uint32_t port, uint64_t rate_pps)
{
    if (!has_port(sw, port))
        return -EINVAL;
    sw_tm_set_packet_rate(&sw->target.tm, port, rate_pps);
    sw->target.tm.ports[port].keeps_rate = true;
    return 0;
}

int sw_switch_set_depth(struct sw_switch *sw, uint32_t port, uint32_t most_packets)
{
    if (!has_port(sw, port))
        return -EINVAL;
    sw_tm_set_depth(&sw->target.tm, port, most_packets);
    sw->target.tm.ports[port].keeps_depth = true;
    return 0;
}

int sw_switch_set_queues(struct sw_switch *sw, uint32_t port, uint32_t class_, uint32_t count, uint32_t quantum_bytes)
{
    if (!has_port(sw, port) || class_ >= SW_CLASS_COUNT || !count || count > SW_ROUND_MAX_QUEUES || !quantum_bytes)
        return -EINVAL;
    return sw_tm_set_queues(&sw->target.tm, port, class_, count, quantum_bytes, sw->target.now_ns);
}

bool sw_switch_follow_link(struct sw_switch *sw, uint32_t port, const struct sw_link_shape *shape)
{
    struct sw_port *p = &sw->target.tm.ports[port];
    bool new_rate = !p->keeps_rate && p->rate_bps != shape->rate_bps;
    bool new_delay = !p->keeps_delay && p->delay_ns != shape->delay_ns;

    if (new_rate) {
        sw_tm_set_rate(&sw->target.tm, port, shape->rate_bps);
        if (!p->keeps_depth)
            sw_tm_set_depth(&sw->target.tm, port, shape->rate_bps ? SW_LINK_DEPTH : SW_ANY_DEPTH);
    }
    if (new_delay)
        p->delay_ns = shape->delay_ns;
    return new_rate || new_delay;
}

int sw_switch_set_delay(struct sw_switch *sw, uint32_t port, int64_t delay_ns)
{
    if (!has_port(sw, port) || delay_ns < 0)
        return -EINVAL;
    sw->target.tm.ports[port].delay_ns = delay_ns;
    sw->target.tm.ports[port].keeps_delay = true;
    return 0;
}

int sw_switch_set_ingress_delay(struct sw_switch *sw, uint32_t port, int64_t delay_ns)
{
    if (!has_port(sw, port) || delay_ns < 0)
        return -EINVAL;
    sw->target.tm.ports[port].ingress_delay_ns = delay_ns;
    return 0;
}

int sw_switch_set_link(struct sw_switch *sw, uint32_t port, bool is_up)
{
    if (!has_port(sw, port))
        return -EINVAL;
    sw->target.tm.ports[port].is_down = !is_up;
    return 0;
}

int sw_switch_set_impairment(struct sw_switch *sw, uint32_t port, bool leaving, enum sw_impairment_kind kind,
                             const struct sw_impairment *impairment)
{
    struct sw_impairments **set;

    if (!has_port(sw, port) || impairment->rate_ppb > SW_IMPAIRMENT_ALWAYS_PPB || impairment->time_ns < 0)
        return -EINVAL;
    set = leaving ? &sw->target.tm.ports[port].leaving : &sw->target.tm.ports[port].arriving;
    if (!*set)
        *set = sw_impairments_create();
    if (!*set)
        return -ENOMEM;
    if (impairment->rate_ppb)
        (*set)->kinds[kind] = *impairment;
    else
        (*set)->kinds[kind].rate_ppb = 0;
    return 0;
}

uint32_t sw_switch_depth(const struct sw_switch *sw, uint32_t port)
{
    return sw->target.tm.ports[port].queues[0].most_packets;
}

int64_t sw_switch_delay_ns(const struct sw_switch *sw, uint32_t port)
{
    return sw->target.tm.ports[port].delay_ns;
}

uint64_t sw_switch_rate_bps(const struct sw_switch *sw, uint32_t port)
{
    return sw->target.tm.ports[port].rate_bps;
}

void sw_switch_count_kernel_drops(struct sw_switch *sw, uint32_t port, uint64_t frames)
{
    sw->target.counters.ports[port].kernel_drops += frames;
}

struct sw_lateness *sw_switch_departure_lateness(struct sw_switch *sw)
{
    return &sw->departure_lateness;
}

struct sw_lateness *sw_switch_ingress_lateness(struct sw_switch *sw)
{
    return &sw->ingress_lateness;
}

struct sw_spacing *sw_switch_spacing(struct sw_switch *sw)
{
    return &sw->spacing;
}

size_t sw_switch_telemetry(struct sw_switch *sw, const struct sw_telemetry_record **records)
{
    size_t count = sw->target.telemetry.count;

    *records = sw->target.telemetry.records;
    sw->target.telemetry.count = 0;
    return count;
}

void sw_switch_end_links(struct sw_switch *sw)
{
    sw_telemetry_end_links(&sw->target.telemetry);
}

struct sw_pipeline *sw_switch_pipeline(struct sw_switch *sw)
{
    return sw->target.pipeline;
}
