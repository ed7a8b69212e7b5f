/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The memory of packets in flight: a fixed-size record each (frame bookkeeping, buffer), in a few size classes that
 * grow by slabs. A packet has a PHV only from ingress to the end of egress, so that packets on links take little
 * memory. Memory is freed only with the pool. Pools of switches driven by one thread may share idle frames: a frame
 * used recently is still in the caches, and a packet moves from one switch to the next without a copy. Each pool counts
 * the frames it has handed out. Must know neither ports nor time.
 */
#ifndef SW_PACKET_POOL_H
#define SW_PACKET_POOL_H

#include "runtime/pipeline.h"

#define SW_FRAME_MAX_BYTES 65535u
#define SW_POOL_CLASSES 4u
#define SW_WHOLE_FRAME UINT32_MAX
#define SW_PHV_START_BYTES 512u /* what a pass needs of most PHVs */
#define SW_LINE_BYTES 64u       /* of the processor's caches */

/* The target's data about a packet, in addition to the data that the pipeline sees. */
struct sw_frame {
    struct sw_packet packet; /* first, so that a packet of this pool is also a frame */
    int64_t time_ns;         /* time of reception, of enqueueing, or at which the frame is due to leave */
    int64_t next_ns;         /* time_ns of the next frame in a list of arrivals */
    uint32_t length;         /* BMv2's packet length: bytes at ingress plus headers added, minus headers removed */
    uint32_t queued_bytes;   /* size of the frame in its queue */
    uint32_t truncate_bytes; /* SW_WHOLE_FRAME, or the smallest length that a pass requested */
    uint16_t port;           /* ingress port, later egress port */
    uint16_t passes; /* number of recirculations, resubmissions and egress clones, including those of its origin */
    uint32_t family; /* the number that the frame shares with its copies, or 0 before the first one */
    uint8_t size_class;
    uint8_t queue;     /* of several queues of the frame's class, the one that holds it */
    bool is_past_link; /* whether the link's impairments have been applied */
};

struct sw_frame_list {
    struct sw_frame *head, *tail;
};

struct sw_frame_store; /* idle frames and their slabs, used by one or more pools */

struct sw_packet_pool {
    struct sw_frame_store *store;
    uint64_t bytes_in_use; /* buffer capacity of all frames handed out */
    uint64_t limit_bytes;
};

/* 0 or -ENOMEM. */
int sw_pool_init(struct sw_packet_pool *pool, size_t phv_bytes, uint64_t limit_bytes);
void sw_pool_free(struct sw_packet_pool *pool);

/* Makes `pool` use the idle frames of another from now on, if their PHVs have the same size and it has handed none out.
 */
void sw_pool_share(struct sw_packet_pool *pool, const struct sw_packet_pool *other);

/*
 * A frame of `bytes` (contents unset) after SW_HEADROOM, without a PHV, metadata zeroed; NULL when too long or out of
 * memory.
 */
struct sw_frame *sw_pool_acquire(struct sw_packet_pool *pool, uint32_t bytes);
void sw_pool_release(struct sw_packet_pool *pool, struct sw_frame *frame);

/* Gives a frame a PHV of zeros; false when out of memory. */
bool sw_pool_lend_phv(struct sw_packet_pool *pool, struct sw_frame *frame);
/* Takes the PHV of a frame back, which has one. */
void sw_pool_return_phv(struct sw_packet_pool *pool, struct sw_frame *frame);

/*
 * Moves a frame without a PHV from one pool to another. The frame is as after sw_pool_acquire but keeps its bytes and
 * tail. Returns false without any change unless the pools share frames and the frame has the size class that `bytes`
 * would get.
 */
bool sw_pool_move(struct sw_packet_pool *from, struct sw_packet_pool *to, struct sw_frame *frame);

/* True if the frames handed out have reached the limit; the caller then drops the packet and counts it. */
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

/* Loads bytes into the caches. Must be inlined: GCC removes calls of a function that only prefetches. */
static inline __attribute__((always_inline)) void sw_prefetch(const void *start, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += SW_LINE_BYTES)
        __builtin_prefetch((const uint8_t *)start + at);
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
