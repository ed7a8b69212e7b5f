/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "traffic/packet_pool.h"

#include <stdlib.h>
#include <string.h>

#define SLAB_BYTES (256u * 1024u)
#define LINE_BYTES 64u

static const uint32_t class_capacity[SW_POOL_CLASSES] = {512, 2048, 10240, SW_HEADROOM + SW_FRAME_MAX_BYTES + 1};

struct sw_pool_slab {
    struct sw_pool_slab *next;
};

static size_t align_up(size_t bytes)
{
    return (bytes + LINE_BYTES - 1) & ~(size_t)(LINE_BYTES - 1);
}

void sw_pool_init(struct sw_packet_pool *pool, size_t phv_bytes, uint64_t limit_bytes)
{
    *pool = (struct sw_packet_pool){.phv_bytes = phv_bytes, .limit_bytes = limit_bytes};
}

void sw_pool_free(struct sw_packet_pool *pool)
{
    while (pool->slabs) {
        struct sw_pool_slab *slab = pool->slabs;

        pool->slabs = slab->next;
        free(slab);
    }
}

static void put_idle(struct sw_packet_pool *pool, struct sw_frame *frame)
{
    struct sw_frame *top = pool->idle[frame->size_class];

    frame->packet.next = top ? &top->packet : NULL;
    pool->idle[frame->size_class] = frame;
}

/* Adds one slab of frames to a size class: each frame is its record, its PHV and its buffer, on cache lines. */
static bool grow(struct sw_packet_pool *pool, uint8_t size_class)
{
    size_t record = align_up(sizeof(struct sw_frame));
    size_t phv = align_up(pool->phv_bytes);
    size_t stride = record + phv + class_capacity[size_class];
    size_t frames = SLAB_BYTES / stride ? SLAB_BYTES / stride : 1;
    uint8_t *slab;

    stride = align_up(stride);
    slab = aligned_alloc(LINE_BYTES, LINE_BYTES + frames * stride);
    if (!slab)
        return false;
    ((struct sw_pool_slab *)slab)->next = pool->slabs;
    pool->slabs = (struct sw_pool_slab *)slab;
    for (size_t i = frames; i-- > 0;) {
        struct sw_frame *frame = (struct sw_frame *)(slab + LINE_BYTES + i * stride);

        memset(frame, 0, sizeof(*frame));
        frame->size_class = size_class;
        frame->packet.phv = (uint8_t *)frame + record;
        frame->packet.buffer = (uint8_t *)frame + record + phv;
        frame->packet.capacity = class_capacity[size_class];
        put_idle(pool, frame);
    }
    return true;
}

struct sw_frame *sw_pool_acquire(struct sw_packet_pool *pool, uint32_t bytes)
{
    struct sw_frame *frame;
    uint8_t size_class = 0;

    if (bytes > SW_FRAME_MAX_BYTES)
        return NULL;
    while (class_capacity[size_class] < SW_HEADROOM + bytes)
        size_class++;
    if (!pool->idle[size_class] && !grow(pool, size_class))
        return NULL;
    frame = pool->idle[size_class];
    pool->idle[size_class] = frame->packet.next ? sw_frame_of(frame->packet.next) : NULL;
    pool->bytes_in_use += frame->packet.capacity;

    frame->packet.next = NULL;
    memset(&frame->packet.std, 0, sizeof(frame->packet.std));
    memset(frame->packet.phv, 0, pool->phv_bytes);
    frame->packet.head = SW_HEADROOM;
    frame->packet.len = bytes;
    frame->packet.parsed_bytes = 0;
    frame->length = bytes;
    frame->truncate_bytes = SW_WHOLE_FRAME;
    frame->passes = 0;
    return frame;
}

void sw_pool_release(struct sw_packet_pool *pool, struct sw_frame *frame)
{
    pool->bytes_in_use -= frame->packet.capacity;
    put_idle(pool, frame);
}
