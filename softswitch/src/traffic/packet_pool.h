/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Packets in flight: one fixed-size record each (frame bookkeeping, PHV, buffer), kept in a few size classes that grow
 * by slabs and are never given back before the pool dies. Pools of switches that one thread drives may share the frames
 * that lie idle: one that was just used is still in the caches, and a packet goes from one switch to the next as it
 * lies. What a pool has handed out is counted apart. Knows no ports and no time.
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
    bool is_past_link; /* what its link does to it has been done */
};

struct sw_frame_list {
    struct sw_frame *head, *tail;
};

struct sw_frame_store; /* idle frames and the slabs that hold them, of one pool or of several */

struct sw_packet_pool {
    struct sw_frame_store *store;
    uint64_t bytes_in_use; /* buffer capacity of all frames handed out */
    uint64_t limit_bytes;
};

/* 0 or -ENOMEM. */
int sw_pool_init(struct sw_packet_pool *pool, size_t phv_bytes, uint64_t limit_bytes);
void sw_pool_free(struct sw_packet_pool *pool);

/* Has `pool` use the idle frames of another from now on, if their PHVs are alike and it has handed none out. */
void sw_pool_share(struct sw_packet_pool *pool, const struct sw_packet_pool *other);

/*
 * A frame of `bytes` (contents unset) after SW_HEADROOM, PHV and metadata zeroed; NULL when too long or out of memory.
 */
struct sw_frame *sw_pool_acquire(struct sw_packet_pool *pool, uint32_t bytes);
void sw_pool_release(struct sw_packet_pool *pool, struct sw_frame *frame);

/*
 * Makes a frame of one pool one of another's, as sw_pool_acquire would make it but with the bytes that it has. False,
 * and nothing changed, unless the pools share frames and one of its size would be acquired for so many bytes.
 */
bool sw_pool_move(struct sw_packet_pool *from, struct sw_packet_pool *to, struct sw_frame *frame);

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
