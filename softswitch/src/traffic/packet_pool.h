/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Packets in flight: one fixed-size record each (frame bookkeeping, PHV, buffer), kept in a few size classes that grow
 * by slabs and are never given back before the pool dies. Knows no ports and no time.
 */
#ifndef SW_PACKET_POOL_H
#define SW_PACKET_POOL_H

#include "runtime/pipeline.h"

#define SW_FRAME_MAX_BYTES 65535u
#define SW_POOL_CLASSES 4u
#define SW_WHOLE_FRAME UINT32_MAX

/* What the target keeps about a packet beside what the pipeline sees. */
struct sw_frame {
    struct sw_packet packet; /* first, so that a packet of this pool is also a frame */
    int64_t time_ns;         /* when it was received, enqueued, or is due to leave */
    uint32_t length;         /* BMv2's packet length: bytes at ingress plus headers added, less headers removed */
    uint32_t queued_bytes;   /* what it counts for in its queue */
    uint32_t truncate_bytes; /* SW_WHOLE_FRAME, or the smallest length that a pass asked for */
    uint16_t port;           /* where it came in, then where it goes out */
    uint16_t passes;         /* how often it, or what it was cloned from, went round */
    uint8_t size_class;
};

struct sw_frame_list {
    struct sw_frame *head, *tail;
};

struct sw_pool_slab;

struct sw_packet_pool {
    struct sw_frame *idle[SW_POOL_CLASSES];
    struct sw_pool_slab *slabs;
    size_t phv_bytes;
    uint64_t bytes_in_use; /* buffer capacity of all frames handed out */
    uint64_t limit_bytes;
};

void sw_pool_init(struct sw_packet_pool *pool, size_t phv_bytes, uint64_t limit_bytes);
void sw_pool_free(struct sw_packet_pool *pool);

/*
 * A frame of `bytes` (contents unset) after SW_HEADROOM, PHV and metadata zeroed; NULL when too long or out of memory.
 */
struct sw_frame *sw_pool_acquire(struct sw_packet_pool *pool, uint32_t bytes);
void sw_pool_release(struct sw_packet_pool *pool, struct sw_frame *frame);

/* True when the frames handed out have reached the limit; the caller then drops and counts. */
static inline bool sw_pool_is_full(const struct sw_packet_pool *pool)
{
    return pool->bytes_in_use >= pool->limit_bytes;
}

static inline struct sw_frame *sw_frame_of(struct sw_packet *packet)
{
    return (struct sw_frame *)packet;
}

static inline const uint8_t *sw_frame_bytes(const struct sw_frame *frame)
{
    return frame->packet.buffer + frame->packet.head;
}

static inline void sw_frame_list_push(struct sw_frame_list *list, struct sw_frame *frame)
{
    frame->packet.next = NULL;
    if (list->tail)
        list->tail->packet.next = &frame->packet;
    else
        list->head = frame;
    list->tail = frame;
}

static inline struct sw_frame *sw_frame_list_pop(struct sw_frame_list *list)
{
    struct sw_frame *frame = list->head;

    if (!frame)
        return NULL;
    list->head = frame->packet.next ? sw_frame_of(frame->packet.next) : NULL;
    if (!list->head)
        list->tail = NULL;
    frame->packet.next = NULL;
    return frame;
}

#endif /* SW_PACKET_POOL_H */
