/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "switch/switch_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int prepare(struct sw_switch *sw, const struct sw_config *config)
{
    if (sw_tm_init(&sw->tm) < 0)
        return -ENOMEM;
    sw->pipeline = sw_pipeline_create(sw->program, config->seed);
    if (!sw->pipeline)
        return -ENOMEM;
    for (uint32_t port = 0; config->all_ports && port < SW_RECIRCULATION_PORT; port++)
        sw->tm.ports[port].has_device = true;
    return 0;
}

struct sw_switch *sw_switch_create(const struct sw_program *program, const struct sw_config *config)
{
    uint64_t limit = config->memory_limit ? config->memory_limit : SW_DEFAULT_MEMORY_LIMIT;
    struct sw_switch *sw;

    if (program->abi != SW_PROGRAM_ABI)
        return NULL;
    sw = calloc(1, sizeof(*sw));
    if (!sw)
        return NULL;
    sw->program = program;
    sw->epoch_ns = config->epoch_ns;
    sw->now_ns = INT64_MIN;
    sw_pool_init(&sw->pool, program->phv_bytes, limit);
    sw_telemetry_init(&sw->telemetry, config->epoch_ns, config->sample_ns);
    if (prepare(sw, config) < 0) {
        sw_switch_destroy(sw);
        return NULL;
    }
    return sw;
}

void sw_switch_destroy(struct sw_switch *sw)
{
    if (!sw)
        return;
    sw_control_shadow_free(sw);
    if (sw->pipeline)
        sw_pipeline_destroy(sw->pipeline);
    for (uint32_t port = 0; port < SW_PORT_COUNT; port++)
        free(sw->port_names[port]);
    sw_replication_free(&sw->replication);
    sw_telemetry_free(&sw->telemetry);
    sw_arrivals_free(&sw->arrivals);
    sw_tm_free(&sw->tm);
    sw_pool_free(&sw->pool);
    free(sw);
}

void sw_switch_set_output(struct sw_switch *sw, sw_output_fn output, void *ctx)
{
    sw->output = output;
    sw->output_ctx = ctx;
}

int sw_switch_attach_port(struct sw_switch *sw, uint32_t port, const char *name)
{
    char *copy;

    if (port >= SW_RECIRCULATION_PORT)
        return -EINVAL;
    copy = strdup(name);
    if (!copy)
        return -ENOMEM;
    free(sw->port_names[port]);
    sw->port_names[port] = copy;
    sw->tm.ports[port].has_device = true;
    return 0;
}

struct sw_packet *sw_switch_acquire(struct sw_switch *sw, uint32_t bytes)
{
    struct sw_frame *frame = sw_pool_acquire(&sw->pool, bytes);

    return frame ? &frame->packet : NULL;
}

void sw_switch_release(struct sw_switch *sw, struct sw_packet *packet)
{
    sw_pool_release(&sw->pool, sw_frame_of(packet));
}

void sw_switch_count_drop(struct sw_switch *sw, uint32_t port, enum sw_drop reason)
{
    sw->counters.ports[port].drops[reason]++;
}

void sw_switch_drop(struct sw_switch *sw, struct sw_frame *frame, uint32_t port, enum sw_drop reason)
{
    sw_switch_count_drop(sw, port, reason);
    sw_pool_release(&sw->pool, frame);
}

int sw_switch_receive_packet(struct sw_switch *sw, uint32_t port, struct sw_packet *packet, int64_t time_ns)
{
    struct sw_frame *frame = sw_frame_of(packet);

    if (port >= SW_RECIRCULATION_PORT) {
        sw_pool_release(&sw->pool, frame);
        return -EINVAL;
    }
    sw->counters.ports[port].rx_packets++;
    sw->counters.ports[port].rx_bytes += packet->len;
    if (packet->len == 0) {
        sw_switch_drop(sw, frame, port, SW_DROP_BAD_LENGTH);
        return -EMSGSIZE;
    }
    if (sw->pool.bytes_in_use > sw->pool.limit_bytes) {
        sw_switch_drop(sw, frame, port, SW_DROP_MEMORY);
        return -ENOBUFS;
    }
    frame->port = (uint16_t)port;
    frame->length = packet->len;
    frame->time_ns = time_ns;
    if (sw_arrivals_push(&sw->arrivals, time_ns + sw->tm.ports[port].ingress_delay_ns, frame) < 0) {
        sw_switch_drop(sw, frame, port, SW_DROP_MEMORY);
        return -ENOMEM;
    }
    return 0;
}

/* Counts a frame that never became a packet. */
static int refuse(struct sw_switch *sw, uint32_t port, uint32_t len, enum sw_drop reason)
{
    sw->counters.ports[port].rx_packets++;
    sw->counters.ports[port].rx_bytes += len;
    sw_switch_count_drop(sw, port, reason);
    return reason == SW_DROP_MEMORY ? -ENOBUFS : -EMSGSIZE;
}

int sw_switch_receive(struct sw_switch *sw, uint32_t port, const uint8_t *bytes, uint32_t len, int64_t time_ns)
{
    struct sw_packet *packet;

    if (port >= SW_RECIRCULATION_PORT)
        return -EINVAL;
    if (len == 0 || len > SW_FRAME_MAX_BYTES)
        return refuse(sw, port, len, SW_DROP_BAD_LENGTH);
    packet = sw_switch_acquire(sw, len);
    if (!packet)
        return refuse(sw, port, len, SW_DROP_MEMORY);
    memcpy(packet->buffer + packet->head, bytes, len);
    return sw_switch_receive_packet(sw, port, packet, time_ns);
}

/* Moves the clock on; it never goes back: a frame that comes late is late. */
static void set_time(struct sw_switch *sw, int64_t time_ns)
{
    if (time_ns <= sw->now_ns)
        return;
    sw_telemetry_advance(&sw->telemetry, &sw->tm, time_ns);
    sw->now_ns = time_ns;
}

static void arrive(struct sw_switch *sw, struct sw_frame *frame)
{
    const struct sw_port *port = &sw->tm.ports[frame->port];
    struct sw_standard_metadata *std = &frame->packet.std;

    if (port->decodes_mac_control && sw_mac_control_receive(sw, frame))
        return;
    std->ingress_port = frame->port;
    std->packet_length = frame->length;
    std->ingress_global_timestamp = sw_switch_us(sw);
    sw_v1model_ingress(sw, frame);
}

void sw_switch_advance(struct sw_switch *sw, int64_t now_ns)
{
    for (;;) {
        int64_t wire_ns = sw_tm_next_ns(&sw->tm);
        int64_t arrival_ns = sw_arrivals_next_ns(&sw->arrivals);
        int64_t next_ns = wire_ns <= arrival_ns ? wire_ns : arrival_ns;

        if (sw->loopback.head) {
            sw_v1model_ingress(sw, sw_frame_list_pop(&sw->loopback));
            continue;
        }
        if (next_ns == SW_NEVER || next_ns > now_ns)
            break;
        set_time(sw, next_ns);
        if (wire_ns <= arrival_ns)
            sw_v1model_egress(sw, sw_tm_next_port(&sw->tm));
        else
            arrive(sw, sw_arrivals_pop(&sw->arrivals));
    }
    set_time(sw, now_ns);
}

int64_t sw_switch_next_ns(const struct sw_switch *sw)
{
    int64_t wire_ns = sw_tm_next_ns(&sw->tm);
    int64_t arrival_ns = sw_arrivals_next_ns(&sw->arrivals);

    return wire_ns < arrival_ns ? wire_ns : arrival_ns;
}

int64_t sw_switch_now_ns(const struct sw_switch *sw)
{
    return sw->now_ns;
}

int sw_switch_set_rate(struct sw_switch *sw, uint32_t port, uint64_t rate_bps)
{
    if (port >= SW_RECIRCULATION_PORT)
        return -EINVAL;
    sw_tm_set_rate(&sw->tm, port, rate_bps);
    return 0;
}

int sw_switch_set_delay(struct sw_switch *sw, uint32_t port, int64_t delay_ns)
{
    if (port >= SW_RECIRCULATION_PORT || delay_ns < 0)
        return -EINVAL;
    sw->tm.ports[port].delay_ns = delay_ns;
    return 0;
}

int sw_switch_set_ingress_delay(struct sw_switch *sw, uint32_t port, int64_t delay_ns)
{
    if (port >= SW_RECIRCULATION_PORT || delay_ns < 0)
        return -EINVAL;
    sw->tm.ports[port].ingress_delay_ns = delay_ns;
    return 0;
}

int64_t sw_switch_delay_ns(const struct sw_switch *sw, uint32_t port)
{
    return sw->tm.ports[port].delay_ns;
}

void sw_switch_count_kernel_drops(struct sw_switch *sw, uint32_t port, uint64_t frames)
{
    sw->counters.ports[port].kernel_drops += frames;
}

struct sw_lateness *sw_switch_departure_lateness(struct sw_switch *sw)
{
    return &sw->departure_lateness;
}

struct sw_lateness *sw_switch_ingress_lateness(struct sw_switch *sw)
{
    return &sw->ingress_lateness;
}

size_t sw_switch_telemetry(struct sw_switch *sw, const struct sw_telemetry_record **records)
{
    size_t count = sw->telemetry.count;

    *records = sw->telemetry.records;
    sw->telemetry.count = 0;
    return count;
}

struct sw_pipeline *sw_switch_pipeline(struct sw_switch *sw)
{
    return sw->pipeline;
}
