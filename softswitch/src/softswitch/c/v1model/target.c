/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "v1model/target.h"

#include <errno.h>
#include <string.h>

int sw_target_init(struct sw_target *target, const struct sw_program *program, const struct sw_config *config)
{
    memset(target, 0, sizeof(*target));
    target->program = program;
    target->epoch_ns = config->epoch_ns;
    target->now_ns = INT64_MIN;
    sw_telemetry_init(&target->telemetry, config->epoch_ns, config->sample_ns, config->link_sample_ns);
    if (sw_pool_init(&target->pool, program->phv_bytes,
                     config->memory_limit ? config->memory_limit : SW_DEFAULT_MEMORY_LIMIT) < 0 ||
        sw_tm_init(&target->tm) < 0)
        return -ENOMEM;
    for (uint32_t port = 0; config->all_ports && port < SW_RECIRCULATION_PORT; port++)
        target->tm.ports[port].has_device = true;
    for (uint32_t port = 0; config->bmv2_ports && port < SW_PORT_COUNT; port++)
        target->tm.ports[port].has_device = target->tm.ports[port].carries_empty = true;
    target->pipeline = sw_pipeline_create(program, config->seed);
    return target->pipeline ? 0 : -ENOMEM;
}

void sw_target_free(struct sw_target *target)
{
    sw_pipeline_destroy(target->pipeline);
    sw_replication_free(&target->replication);
    sw_arrivals_free(&target->copies);
    sw_telemetry_free(&target->telemetry);
    sw_tm_free(&target->tm);
    sw_pool_free(&target->pool);
}

static void count(struct sw_target *target, struct sw_drop_note note)
{
    target->counters.ports[note.port].drops[note.reason]++;
    target->drop_notes[target->n_drop_notes++ % SW_DROP_NOTES] = note;
}

void sw_target_count_drop(struct sw_target *target, uint32_t port, enum sw_drop reason)
{
    count(target, (struct sw_drop_note){.reason = reason, .port = port});
}

/* The log's words for a packet that the target drops; the first two are BMv2's. */
static const char *const drop_words[SW_DROP_COUNT] = {
    [SW_DROP_INGRESS] = "at the end of ingress",
    [SW_DROP_EGRESS] = "at the end of egress",
    [SW_DROP_NO_DEVICE] = "because the port has no interface",
    [SW_DROP_MEMORY] = "because memory ran out",
    [SW_DROP_PASS_LIMIT] = "because it went round too often",
    [SW_DROP_NO_COPIES] = "because its multicast group is unknown or empty",
    [SW_DROP_BAD_DESTINATION] = "because there is no such port or priority",
    [SW_DROP_BAD_LENGTH] = "because it is empty or too long",
    [SW_DROP_LINK_DOWN] = "because the link is down",
    [SW_DROP_QUEUE_FULL] = "because the queue is full",
    [SW_DROP_STEP_LIMIT] = "because the program does not leave a loop",
};

void sw_target_drop(struct sw_target *target, struct sw_frame *frame, uint32_t port, enum sw_drop reason)
{
    struct sw_drop_note note = {.reason = reason, .port = port};

    if (reason == SW_DROP_INGRESS || reason == SW_DROP_EGRESS || reason == SW_DROP_STEP_LIMIT) {
        note.at = frame->packet.phv->requests.dropped_at;
        note.in = frame->packet.phv->requests.dropped_in;
    }
    SW_LOG(target->pipeline, &frame->packet, SW_LOG_DEBUG, "Dropping packet %s",
           drop_words[reason] ? drop_words[reason] : "on its link");
    count(target, note);
    sw_pool_release(&target->pool, frame);
}

static const enum sw_drop drop_of_impairment[SW_IMPAIRMENT_COUNT] = {
    [SW_IMPAIRMENT_LOSS] = SW_DROP_LINK_LOSS,
    [SW_IMPAIRMENT_UDP_LOSS] = SW_DROP_LINK_UDP_LOSS,
    [SW_IMPAIRMENT_CORRUPT] = SW_DROP_LINK_CORRUPTED,
};

/* The duplicate of a frame; NULL when out of memory, and then the frame arrives once. */
static struct sw_frame *copy_of(struct sw_target *target, const struct sw_frame *frame)
{
    struct sw_frame *copy = sw_pool_is_full(&target->pool) ? NULL : sw_pool_acquire(&target->pool, frame->packet.len);

    if (!copy)
        return NULL;
    memcpy(copy->packet.buffer + copy->packet.head, sw_frame_bytes(frame), frame->packet.len);
    copy->packet.tail = frame->packet.tail;
    copy->port = frame->port;
    copy->time_ns = frame->time_ns;
    target->counters.duplicated++;
    return copy;
}

bool sw_target_impair(struct sw_target *target, struct sw_impairments *impairments, uint32_t port,
                      struct sw_frame *frame, struct sw_frame **copy)
{
    struct sw_fate fate = sw_impairments_draw(impairments, frame, frame->time_ns, target->tm.ports[port].rate_bps);

    *copy = NULL;
    if (fate.lost_to != SW_IMPAIRMENT_COUNT) {
        sw_target_drop(target, frame, port, drop_of_impairment[fate.lost_to]);
        return false;
    }
    frame->time_ns = fate.due_ns;
    if (fate.is_doubled)
        *copy = copy_of(target, frame);
    return true;
}
