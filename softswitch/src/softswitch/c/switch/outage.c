/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "switch/outage.h"

#include "switch/switch_state.h"
#include "v1model/mac_control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void sw_outage_init(struct sw_outage *outage)
{
    outage->resumes_ns = SW_NEVER;
}

void sw_outage_free(struct sw_outage *outage)
{
    for (uint32_t i = 0; i < outage->n_past; i++)
        sw_pipeline_destroy(outage->past[i]);
    free(outage->past);
}

static void update(struct sw_outage *outage)
{
    outage->is_on = outage->is_off || outage->is_still;
}

/* Keeps the program's old state for reading; the program starts with an empty state. */
static int begin_life(struct sw_switch *sw)
{
    struct sw_outage *outage = &sw->outage;
    struct sw_pipeline **past = realloc(outage->past, (outage->n_past + 1) * sizeof(struct sw_pipeline *));
    struct sw_pipeline *ended;

    if (!past)
        return -ENOMEM;
    outage->past = past;
    ended = sw_pipeline_begin_life(sw->target.pipeline);
    if (!ended)
        return -ENOMEM;
    outage->past[outage->n_past++] = ended;
    return 0;
}

static void lose(struct sw_switch *sw, struct sw_frame_list *frames)
{
    struct sw_frame *frame;

    while ((frame = sw_frame_list_pop(frames)))
        sw_target_drop(&sw->target, frame, frame->port, SW_DROP_RESTART);
}

static void lose_copies(struct sw_switch *sw)
{
    while (sw_arrivals_next_ns(&sw->target.copies) != SW_NEVER) {
        struct sw_frame *copy = sw_arrivals_pop(&sw->target.copies);

        sw_target_drop(&sw->target, copy, copy->port, SW_DROP_RESTART);
    }
}

int sw_outage_power_off(struct sw_switch *sw)
{
    struct sw_outage *outage = &sw->outage;
    struct sw_frame_list lost = {0};

    if (begin_life(sw) < 0)
        return -ENOMEM;
    for (uint32_t port = 0; port < SW_PORT_COUNT; port++)
        sw_tm_empty(&sw->target.tm, port, &lost, sw->target.now_ns);
    lose(sw, &lost);
    lose(sw, &sw->target.loopback);
    lose_copies(sw);
    lose(sw, &outage->ring);
    memset(outage->waiting, 0, sizeof(outage->waiting));
    outage->ring_bytes = 0;
    outage->resumes_ns = SW_NEVER;
    outage->is_off = true;
    update(outage);
    return 0;
}

void sw_outage_power_on(struct sw_switch *sw)
{
    sw->outage.is_off = false;
    update(&sw->outage);
}

void sw_outage_stand_still(struct sw_switch *sw, uint32_t ring_frames)
{
    sw->outage.ring_frames = ring_frames;
    sw->outage.is_still = true;
    sw->outage.resumes_ns = SW_NEVER;
    update(&sw->outage);
}

void sw_outage_go_on(struct sw_switch *sw)
{
    struct sw_outage *outage = &sw->outage;

    if (!outage->is_still)
        return;
    outage->is_still = false;
    outage->resumes_ns = outage->ring.head ? sw->target.now_ns : SW_NEVER;
    update(outage);
}

void sw_outage_take(struct sw_switch *sw, struct sw_frame *frame)
{
    struct sw_outage *outage = &sw->outage;
    uint32_t port = frame->port;

    if (outage->is_off) {
        sw_target_drop(&sw->target, frame, port, SW_DROP_RESTART);
        return;
    }
    if (sw->target.tm.ports[port].decodes_mac_control && sw_mac_control_receive(&sw->target, frame))
        return;
    if (outage->waiting[port] >= outage->ring_frames) {
        sw_target_drop(&sw->target, frame, port, SW_DROP_RECEIVE_RING);
        return;
    }
    outage->waiting[port]++;
    outage->ring_bytes += frame->length;
    sw_frame_list_push(&outage->ring, frame);
}

struct sw_frame *sw_outage_pop(struct sw_switch *sw)
{
    struct sw_outage *outage = &sw->outage;
    struct sw_frame *frame = sw_frame_list_pop(&outage->ring);

    outage->waiting[frame->port]--;
    outage->ring_bytes -= frame->length;
    if (!outage->ring.head)
        outage->resumes_ns = SW_NEVER;
    return frame;
}

struct sw_pipeline *sw_outage_past(const struct sw_switch *sw, uint64_t number)
{
    return number < sw->outage.n_past ? sw->outage.past[number] : NULL;
}
