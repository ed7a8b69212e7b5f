/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The `statistics` line: one JSON object.
 *
 * time_ns              the switch's clock, since the epoch
 * rx_packets, rx_bytes, tx_packets, tx_bytes   over all ports
 * drops                {reason: packets} over all ports, with every reason: ingress and egress (by the program),
 *                      no_device, memory_limit, pass_limit, no_copies, bad_destination, bad_length, transmit,
 *                      link_down, link_loss, link_udp_loss, link_corrupted, restart, receive_ring, queue_full,
 *                      step_limit
 * duplicated           frames duplicated by impaired links
 * kernel_drops         frames that the kernel dropped for lack of room before the switch saw them
 * malformed            packets whose parser ended with an error (the program still ran)
 * ingress_clones, egress_clones, clones_without_session, multicast_copies, recirculated, resubmitted
 * pause_frames         802.3x and 802.1Qbb frames that the MACs obeyed; mac_control_ignored: other MAC control frames
 * queued_packets, queued_bytes   in all queues and receive rings now; buffer_bytes: memory that packets hold now;
 *                      memory_limit_bytes: the maximum of buffer_bytes
 * telemetry_lost       records lost for lack of memory
 * digests_lost         digests lost because digest_read did not remove them in time
 * planned_failed       planned commands (at) that were refused when their time came
 * lateness             {departures: L, ingress: L} with L = {count, p50_ns, p99_ns, max_ns}: how long after its due
 *                      time a frame was handed to its device, and how long after the kernel's timestamp the switch
 *                      processed a frame; all 0 if not measured (virtual clock)
 * spacing              L and ideal_ns: for frames back to back in the model, how far the wall time between their
 *                      departures differed from bytes / rate, and the mean of bytes / rate; the frames of one
 *                      send call leave at the same time
 * ports                {"1": {rx_packets, rx_bytes, tx_packets, tx_bytes, kernel_drops, pause_frames, queued_bytes,
 *                      drops: {reason: n, only above 0}}} for ports with any activity
 */
#include "switch/switch_state.h"

#include <inttypes.h>

static const char *const drop_names[SW_DROP_COUNT] = {
    [SW_DROP_INGRESS] = "ingress",
    [SW_DROP_EGRESS] = "egress",
    [SW_DROP_NO_DEVICE] = "no_device",
    [SW_DROP_MEMORY] = "memory_limit",
    [SW_DROP_PASS_LIMIT] = "pass_limit",
    [SW_DROP_NO_COPIES] = "no_copies",
    [SW_DROP_BAD_DESTINATION] = "bad_destination",
    [SW_DROP_BAD_LENGTH] = "bad_length",
    [SW_DROP_TRANSMIT] = "transmit",
    [SW_DROP_LINK_DOWN] = "link_down",
    [SW_DROP_LINK_LOSS] = "link_loss",
    [SW_DROP_LINK_UDP_LOSS] = "link_udp_loss",
    [SW_DROP_LINK_CORRUPTED] = "link_corrupted",
    [SW_DROP_RESTART] = "restart",
    [SW_DROP_RECEIVE_RING] = "receive_ring",
    [SW_DROP_QUEUE_FULL] = "queue_full",
    [SW_DROP_STEP_LIMIT] = "step_limit",
};

const char *sw_drop_name(enum sw_drop reason)
{
    return drop_names[reason];
}

static void add_number(struct sw_text *out, const char *key, uint64_t value)
{
    sw_text_add(out, "\"%s\": %" PRIu64 ", ", key, value);
}

/* Cuts the ", " after the last member and closes the object. */
static void close_object(struct sw_text *out, const char *after)
{
    if (out->length >= 2 && out->bytes[out->length - 2] == ',')
        out->length -= 2;
    sw_text_add(out, "}%s", after);
}

static void add_sums(const struct sw_switch *sw, struct sw_text *out)
{
    struct sw_port_counters sum = {0};
    uint64_t queued_packets = 0, queued_bytes = sw->outage.ring_bytes;

    for (uint32_t port = 0; port < SW_PORT_COUNT; port++) {
        const struct sw_port_counters *c = &sw->target.counters.ports[port];

        queued_packets += sw->outage.waiting[port];
        sum.rx_packets += c->rx_packets;
        sum.rx_bytes += c->rx_bytes;
        sum.tx_packets += c->tx_packets;
        sum.tx_bytes += c->tx_bytes;
        sum.kernel_drops += c->kernel_drops;
        sum.pause_frames += c->pause_frames;
        sum.mac_control_ignored += c->mac_control_ignored;
        for (uint32_t reason = 0; reason < SW_DROP_COUNT; reason++)
            sum.drops[reason] += c->drops[reason];
        for (uint32_t class_ = 0; class_ < SW_CLASS_COUNT; class_++) {
            queued_packets += sw->target.tm.ports[port].queues[class_].packets;
            queued_bytes += sw->target.tm.ports[port].queues[class_].bytes;
        }
    }
    add_number(out, "rx_packets", sum.rx_packets);
    add_number(out, "rx_bytes", sum.rx_bytes);
    add_number(out, "tx_packets", sum.tx_packets);
    add_number(out, "tx_bytes", sum.tx_bytes);
    add_number(out, "kernel_drops", sum.kernel_drops);
    add_number(out, "pause_frames", sum.pause_frames);
    add_number(out, "mac_control_ignored", sum.mac_control_ignored);
    add_number(out, "queued_packets", queued_packets);
    add_number(out, "queued_bytes", queued_bytes);
    sw_text_add(out, "\"drops\": {");
    for (uint32_t reason = 0; reason < SW_DROP_COUNT; reason++)
        add_number(out, drop_names[reason], sum.drops[reason]);
    close_object(out, ", ");
}

static void add_events(const struct sw_switch *sw, struct sw_text *out)
{
    const struct sw_target_counters *c = &sw->target.counters;

    add_number(out, "ingress_clones", c->ingress_clones);
    add_number(out, "egress_clones", c->egress_clones);
    add_number(out, "clones_without_session", c->clones_without_session);
    add_number(out, "multicast_copies", c->multicast_copies);
    add_number(out, "recirculated", c->recirculated);
    add_number(out, "resubmitted", c->resubmitted);
    add_number(out, "malformed", c->malformed);
    add_number(out, "duplicated", c->duplicated);
    add_number(out, "buffer_bytes", sw->target.pool.bytes_in_use);
    add_number(out, "memory_limit_bytes", sw->target.pool.limit_bytes);
    add_number(out, "telemetry_lost", sw->target.telemetry.lost);
    add_number(out, "digests_lost", sw_digest_lost(sw->target.pipeline));
    add_number(out, "planned_failed", sw->schedule.failed);
}

static void add_percentiles(struct sw_text *out, const struct sw_lateness *lateness)
{
    add_number(out, "count", lateness->count);
    add_number(out, "p50_ns", (uint64_t)sw_lateness_percentile_ns(lateness, 50));
    add_number(out, "p99_ns", (uint64_t)sw_lateness_percentile_ns(lateness, 99));
    add_number(out, "max_ns", (uint64_t)lateness->max_ns);
}

static void add_lateness(struct sw_text *out, const char *key, const struct sw_lateness *lateness, const char *after)
{
    sw_text_add(out, "\"%s\": {", key);
    add_percentiles(out, lateness);
    close_object(out, after);
}

static void add_spacing(const struct sw_switch *sw, struct sw_text *out)
{
    uint64_t count = sw->spacing.deviation.count;

    sw_text_add(out, "\"spacing\": {");
    add_percentiles(out, &sw->spacing.deviation);
    add_number(out, "ideal_ns", count ? sw->spacing.ideal_sum_ns / count : 0);
    close_object(out, ", ");
}

static void add_port(const struct sw_switch *sw, struct sw_text *out, uint32_t port)
{
    const struct sw_port_counters *c = &sw->target.counters.ports[port];
    uint64_t queued = 0, drops = 0;

    for (uint32_t class_ = 0; class_ < SW_CLASS_COUNT; class_++)
        queued += sw->target.tm.ports[port].queues[class_].bytes;
    for (uint32_t reason = 0; reason < SW_DROP_COUNT; reason++)
        drops += c->drops[reason];
    if (!(c->rx_packets | c->tx_packets | c->kernel_drops | queued | drops) && !sw->port_names[port])
        return;
    sw_text_add(out, "\"%" PRIu32 "\": {", port);
    add_number(out, "rx_packets", c->rx_packets);
    add_number(out, "rx_bytes", c->rx_bytes);
    add_number(out, "tx_packets", c->tx_packets);
    add_number(out, "tx_bytes", c->tx_bytes);
    add_number(out, "kernel_drops", c->kernel_drops);
    add_number(out, "pause_frames", c->pause_frames);
    add_number(out, "queued_bytes", queued);
    sw_text_add(out, "\"drops\": {");
    for (uint32_t reason = 0; reason < SW_DROP_COUNT; reason++) {
        if (c->drops[reason])
            add_number(out, drop_names[reason], c->drops[reason]);
    }
    close_object(out, "}, ");
}

void sw_switch_statistics(const struct sw_switch *sw, struct sw_text *out)
{
    int64_t since_ns = sw->target.now_ns > sw->target.epoch_ns ? sw->target.now_ns - sw->target.epoch_ns : 0;

    sw_text_add(out, "{");
    add_number(out, "time_ns", (uint64_t)since_ns);
    add_sums(sw, out);
    add_events(sw, out);
    sw_text_add(out, "\"lateness\": {");
    add_lateness(out, "departures", &sw->departure_lateness, ", ");
    add_lateness(out, "ingress", &sw->ingress_lateness, "}, ");
    add_spacing(sw, out);
    sw_text_add(out, "\"ports\": {");
    for (uint32_t port = 0; port < SW_PORT_COUNT; port++)
        add_port(sw, out, port);
    close_object(out, "}");
}
