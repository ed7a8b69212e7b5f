/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "traffic/packet_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SMALL_SLAB_BYTES (256u * 1024u)
#define LARGE_SLAB_BYTES (2u * 1024u * 1024u) /* the size of a huge page */
#define SMALL_SLABS 8u                        /* a shared store with this many slabs grows by large slabs */

static const uint32_t class_capacity[SW_POOL_CLASSES] = {512, 2048, 10240, SW_HEADROOM + SW_FRAME_MAX_BYTES + 1};

struct slab {
    struct slab *next;
};

struct sw_frame_store {
    struct sw_frame *idle[SW_POOL_CLASSES];
    struct sw_phv *idle_phvs; /* linked by next_idle */
    struct slab *slabs;
    size_t phv_bytes;
    uint32_t n_slabs;
    uint32_t users; /* number of pools that use the store */
};

static size_t align_up(size_t bytes)
{
    return (bytes + SW_LINE_BYTES - 1) & ~(size_t)(SW_LINE_BYTES - 1);
}

int sw_pool_init(struct sw_packet_pool *pool, size_t phv_bytes, uint64_t limit_bytes)
{
    struct sw_frame_store *store = malloc(sizeof(*store));

    *pool = (struct sw_packet_pool){.store = store, .limit_bytes = limit_bytes};
    if (!store)
        return -ENOMEM;
    *store = (struct sw_frame_store){.phv_bytes = phv_bytes, .users = 1};
    return 0;
}

static void leave(struct sw_frame_store *store)
{
    if (!store || --store->users)
        return;
    while (store->slabs) {
        struct slab *slab = store->slabs;

        store->slabs = slab->next;
        free(slab);
    }
    free(store);
}

void sw_pool_free(struct sw_packet_pool *pool)
{
    leave(pool->store);
    pool->store = NULL;
}

void sw_pool_share(struct sw_packet_pool *pool, const struct sw_packet_pool *other)
{
    if (pool->store == other->store || pool->store->phv_bytes != other->store->phv_bytes || pool->bytes_in_use)
        return;
    leave(pool->store);
    pool->store = other->store;
    pool->store->users++;
}

static void put_idle(struct sw_frame_store *store, struct sw_frame *frame)
{
    struct sw_frame *top = store->idle[frame->size_class];

    frame->packet.next = top ? &top->packet : NULL;
    store->idle[frame->size_class] = frame;
}

/* Allocates a slab of about `*bytes`, which it may enlarge; NULL when out of memory. A store that the switches of a
 * fabric share uses huge pages once it has grown, if the kernel has them: the frames of long queues are far apart, and
 * first touches of small pages take a tenth of the run time. A single switch does not use them: it runs in real time,
 * and in a virtual machine the first touch of a huge page may take milliseconds. */
static uint8_t *slab_memory(const struct sw_frame_store *store, size_t *bytes)
{
    uint8_t *memory;

    if (store->users < 2 || store->n_slabs < SMALL_SLABS || *bytes > LARGE_SLAB_BYTES)
        return aligned_alloc(SW_LINE_BYTES, *bytes);
    *bytes = LARGE_SLAB_BYTES;
    memory = aligned_alloc(LARGE_SLAB_BYTES, LARGE_SLAB_BYTES);
    if (memory)
        (void)madvise(memory, LARGE_SLAB_BYTES, MADV_HUGEPAGE);
    return memory;
}

/* Adds a slab of parts of `stride` bytes; returns the first part and sets their number, or returns NULL. */
static uint8_t *add_slab(struct sw_frame_store *store, size_t stride, size_t *count)
{
    size_t bytes = SW_LINE_BYTES + (SMALL_SLAB_BYTES / stride ? SMALL_SLAB_BYTES / stride : 1) * stride;
    uint8_t *slab = slab_memory(store, &bytes);

    if (!slab)
        return NULL;
    ((struct slab *)slab)->next = store->slabs;
    store->slabs = (struct slab *)slab;
    store->n_slabs++;
    *count = (bytes - SW_LINE_BYTES) / stride;
    return slab + SW_LINE_BYTES;
}

/* Adds frames to a size class: each frame is its record and its buffer, on cache lines. */
static bool grow(struct sw_frame_store *store, uint8_t size_class)
{
    size_t record = align_up(sizeof(struct sw_frame));
    size_t stride = align_up(record + class_capacity[size_class]), count;
    uint8_t *slab = add_slab(store, stride, &count);

    if (!slab)
        return false;
    while (count-- > 0) {
        struct sw_frame *frame = (struct sw_frame *)(slab + count * stride);

        memset(frame, 0, sizeof(*frame));
        frame->size_class = size_class;
        frame->packet.buffer = (uint8_t *)frame + record;
        frame->packet.capacity = class_capacity[size_class];
        put_idle(store, frame);
    }
    return true;
}

static void put_idle_phv(struct sw_frame_store *store, struct sw_phv *phv)
{
    phv->next_idle = store->idle_phvs;
    store->idle_phvs = phv;
}

static bool grow_phvs(struct sw_frame_store *store)
{
    size_t stride = align_up(store->phv_bytes), count;
    uint8_t *slab = add_slab(store, stride, &count);

    if (!slab)
        return false;
    while (count-- > 0)
        put_idle_phv(store, (struct sw_phv *)(slab + count * stride));
    return true;
}

bool sw_pool_lend_phv(struct sw_packet_pool *pool, struct sw_frame *frame)
{
    struct sw_frame_store *store = pool->store;

    if (!store->idle_phvs && !grow_phvs(store))
        return false;
    frame->packet.phv = store->idle_phvs;
    store->idle_phvs = store->idle_phvs->next_idle;
    memset(frame->packet.phv, 0, store->phv_bytes);
    return true;
}

void sw_pool_return_phv(struct sw_packet_pool *pool, struct sw_frame *frame)
{
    put_idle_phv(pool->store, frame->packet.phv);
    frame->packet.phv = NULL;
}

/* The smallest size class whose frames hold this many bytes. */
static uint8_t class_for(uint32_t bytes)
{
    uint8_t size_class = 0;

    while (class_capacity[size_class] < SW_HEADROOM + bytes)
        size_class++;
    return size_class;
}

/* Resets a frame of `bytes` to the state of a received, unparsed frame. */
static void make_fresh(struct sw_packet_pool *pool, struct sw_frame *frame, uint32_t bytes)
{
    pool->bytes_in_use += frame->packet.capacity;
    frame->packet.next = NULL;
    frame->is_past_link = false;
    frame->packet.len = bytes;
    frame->packet.tail = (struct sw_tail){0};
    frame->packet.parsed_bytes = 0;
    frame->length = bytes;
    frame->truncate_bytes = SW_WHOLE_FRAME;
    frame->passes = 0;
    frame->family = 0;
}

/* Loads the record of a frame and the start of the bytes that it will get. */
static inline __attribute__((always_inline)) void prefetch(const struct sw_frame *frame)
{
    sw_prefetch(frame, sizeof(*frame));
    sw_prefetch((const uint8_t *)frame + align_up(sizeof(*frame)) + SW_HEADROOM, 2 * SW_LINE_BYTES);
}

struct sw_frame *sw_pool_acquire(struct sw_packet_pool *pool, uint32_t bytes)
{
    struct sw_frame_store *store = pool->store;
    struct sw_frame *frame;
    uint8_t size_class;

    if (bytes > SW_FRAME_MAX_BYTES)
        return NULL;
    size_class = class_for(bytes);
    if (!store->idle[size_class] && !grow(store, size_class))
        return NULL;
    frame = store->idle[size_class];
    store->idle[size_class] = frame->packet.next ? sw_frame_of(frame->packet.next) : NULL;
    if (store->idle[size_class])
        prefetch(store->idle[size_class]);
    frame->packet.head = SW_HEADROOM;
    make_fresh(pool, frame, bytes);
    return frame;
}

void sw_pool_release(struct sw_packet_pool *pool, struct sw_frame *frame)
{
    pool->bytes_in_use -= frame->packet.capacity;
    if (frame->packet.phv)
        sw_pool_return_phv(pool, frame);
    put_idle(pool->store, frame);
}

bool sw_pool_move(struct sw_packet_pool *from, struct sw_packet_pool *to, struct sw_frame *frame)
{
    uint32_t bytes = frame->packet.len;
    struct sw_tail tail = frame->packet.tail;

    if (from->store != to->store || bytes > SW_FRAME_MAX_BYTES || frame->size_class != class_for(bytes))
        return false;
    from->bytes_in_use -= frame->packet.capacity;
    make_fresh(to, frame, bytes);
    frame->packet.tail = tail;
    return true;
}
