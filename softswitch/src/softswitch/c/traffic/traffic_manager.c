/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "traffic/traffic_manager.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

int sw_tm_init(struct sw_traffic_manager *tm)
{
    memset(tm, 0, sizeof(*tm));
    for (uint32_t port = 0; port < SW_PORT_COUNT; port++) {
        tm->ports[port].decodes_mac_control = true;
        sw_tm_set_depth(tm, port, SW_ANY_DEPTH);
    }
    return sw_index_heap_init(&tm->wires, SW_PORT_COUNT);
}

void sw_tm_free(struct sw_traffic_manager *tm)
{
    for (uint32_t port = 0; port < SW_PORT_COUNT; port++) {
        free(tm->ports[port].leaving);
        free(tm->ports[port].arriving);
        for (uint32_t class_ = 0; class_ < SW_CLASS_COUNT; class_++)
            free(tm->ports[port].queues[class_].round);
    }
    sw_index_heap_free(&tm->wires);
}

/* The earliest time at which a class that holds packets is not paused. */
static int64_t unpaused_ns(const struct sw_queue *queue)
{
    int64_t round_ns;

    if (!queue->round)
        return queue->pause_until_ns;
    round_ns = sw_round_next_ns(queue->round);
    return round_ns > queue->pause_until_ns ? round_ns : queue->pause_until_ns;
}

/* Plans the port's next start: as soon as the wire is free and a class with packets is not paused. */
static inline void plan(struct sw_traffic_manager *tm, uint32_t port, int64_t now_ns)
{
    const struct sw_port *p = &tm->ports[port];
    int64_t at_ns = SW_NEVER;

    for (uint32_t waiting = p->waiting; waiting; waiting &= waiting - 1) {
        int64_t class_ns = unpaused_ns(&p->queues[__builtin_ctz(waiting)]);

        if (class_ns < at_ns)
            at_ns = class_ns;
    }
    if (at_ns != SW_NEVER) {
        if (at_ns < p->wire_free_ns)
            at_ns = p->wire_free_ns;
        if (at_ns < now_ns)
            at_ns = now_ns;
    }
    sw_index_heap_set(&tm->wires, port, at_ns);
}

void sw_tm_enqueue(struct sw_traffic_manager *tm, uint32_t port, uint32_t class_, struct sw_frame *frame,
                   int64_t now_ns)
{
    struct sw_port *p = &tm->ports[port];
    struct sw_queue *queue = &p->queues[class_];

    if (queue->round)
        sw_round_push(queue->round, frame);
    else
        sw_frame_list_push(&queue->frames, frame);
    queue->packets++;
    queue->bytes += frame->queued_bytes;
    if (p->has_device)
        tm->bytes += frame->queued_bytes;
    if (!(p->waiting >> class_ & 1) || queue->round) {
        p->waiting |= (uint8_t)(1u << class_);
        plan(tm, port, now_ns);
    }
}

/* Loads the PHV of the next packet of a queue, whose record is in the caches by now, and the record of the one behind.
 */
static inline __attribute__((always_inline)) void prefetch(const struct sw_packet *next)
{
    sw_prefetch(next->phv, SW_PHV_START_BYTES);
    if (next->next)
        sw_prefetch(next->next, sizeof(struct sw_frame));
}

struct sw_frame *sw_tm_start(struct sw_traffic_manager *tm, uint32_t port, int64_t now_ns, uint32_t *class_)
{
    struct sw_port *p = &tm->ports[port];

    for (uint32_t c, waiting = p->waiting; waiting; waiting &= ~(1u << c)) {
        struct sw_queue *queue;
        struct sw_frame *frame;

        c = 31 - (uint32_t)__builtin_clz(waiting); /* the highest class first */
        queue = &p->queues[c];
        if (queue->pause_until_ns > now_ns)
            continue;
        frame = queue->round ? sw_round_pop(queue->round, now_ns) : sw_frame_list_pop(&queue->frames);
        if (!frame)
            continue;
        queue->packets--;
        queue->bytes -= frame->queued_bytes;
        if (p->has_device)
            tm->bytes -= frame->queued_bytes;
        if (!queue->packets)
            p->waiting &= (uint8_t)~(1u << c);
        if (queue->frames.head)
            prefetch(&queue->frames.head->packet);
        *class_ = c;
        return frame;
    }
    plan(tm, port, now_ns);
    return NULL;
}

/* Moves the end of the last packet by amount/rate s. */
static void use_wire(struct sw_port *p, uint64_t amount, uint64_t rate)
{
    uint64_t units = amount * NS_PER_S + p->wire_remainder;

    p->wire_free_ns += (int64_t)(units / rate);
    p->wire_remainder = units % rate;
}

int64_t sw_tm_occupy(struct sw_traffic_manager *tm, uint32_t port, int64_t start_ns, uint32_t bytes)
{
    struct sw_port *p = &tm->ports[port];

    if (start_ns > p->wire_free_ns) {
        p->wire_free_ns = start_ns;
        p->wire_remainder = 0;
    }
    if (p->rate_bps && bytes)
        use_wire(p, (uint64_t)bytes * 8, p->rate_bps);
    else if (p->rate_pps && bytes)
        use_wire(p, 1, p->rate_pps);
    plan(tm, port, start_ns);
    if (bytes && p->wire_free_ns + p->delay_ns > p->last_due_ns)
        p->last_due_ns = p->wire_free_ns + p->delay_ns;
    return p->last_due_ns;
}

void sw_tm_pause(struct sw_traffic_manager *tm, uint32_t port, uint32_t class_, int64_t until_ns, int64_t now_ns)
{
    tm->ports[port].queues[class_].pause_until_ns = until_ns;
    plan(tm, port, now_ns);
}

void sw_tm_pause_queue(struct sw_traffic_manager *tm, uint32_t port, uint32_t class_, uint32_t queue, int64_t until_ns,
                       int64_t now_ns)
{
    struct sw_round *round = tm->ports[port].queues[class_].round;

    if (queue >= (round ? round->count : 1))
        return;
    if (round)
        round->queues[queue].pause_until_ns = until_ns;
    else
        tm->ports[port].queues[class_].pause_until_ns = until_ns;
    plan(tm, port, now_ns);
}

/* Moves the frames of a class to the end of `list`. */
static void move_frames(struct sw_queue *queue, struct sw_frame_list *list)
{
    struct sw_frame *frame;

    while ((frame = queue->round ? sw_round_pop(queue->round, SW_NEVER) : sw_frame_list_pop(&queue->frames)))
        sw_frame_list_push(list, frame);
}

int sw_tm_set_queues(struct sw_traffic_manager *tm, uint32_t port, uint32_t class_, uint32_t count,
                     uint32_t quantum_bytes, int64_t now_ns)
{
    struct sw_queue *queue = &tm->ports[port].queues[class_];
    struct sw_round *round = count > 1 ? sw_round_create(count, quantum_bytes) : NULL;
    struct sw_frame_list frames = {0};
    struct sw_frame *frame;

    if (count > 1 && !round)
        return -ENOMEM;
    move_frames(queue, &frames);
    free(queue->round);
    queue->round = round;
    while ((frame = sw_frame_list_pop(&frames))) {
        if (round)
            sw_round_push(round, frame);
        else
            sw_frame_list_push(&queue->frames, frame);
    }
    plan(tm, port, now_ns);
    return 0;
}

void sw_tm_set_rate(struct sw_traffic_manager *tm, uint32_t port, uint64_t rate_bps)
{
    tm->ports[port].rate_bps = rate_bps;
    tm->ports[port].rate_pps = 0;
    tm->ports[port].wire_remainder = 0;
}

void sw_tm_set_packet_rate(struct sw_traffic_manager *tm, uint32_t port, uint64_t rate_pps)
{
    sw_tm_set_rate(tm, port, 0);
    tm->ports[port].rate_pps = rate_pps;
}

void sw_tm_set_depth(struct sw_traffic_manager *tm, uint32_t port, uint32_t most_packets)
{
    for (uint32_t class_ = 0; class_ < SW_CLASS_COUNT; class_++)
        tm->ports[port].queues[class_].most_packets = most_packets;
}

void sw_tm_empty(struct sw_traffic_manager *tm, uint32_t port, struct sw_frame_list *lost, int64_t now_ns)
{
    struct sw_port *p = &tm->ports[port];

    for (uint32_t class_ = 0; class_ < SW_CLASS_COUNT; class_++) {
        struct sw_queue *queue = &p->queues[class_];

        move_frames(queue, lost);
        for (uint32_t i = 0; queue->round && i < queue->round->count; i++)
            queue->round->queues[i].pause_until_ns = 0;
        if (p->has_device)
            tm->bytes -= queue->bytes;
        queue->packets = 0;
        queue->bytes = 0;
        queue->pause_until_ns = 0;
    }
    p->waiting = 0;
    plan(tm, port, now_ns);
}
