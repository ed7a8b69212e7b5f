/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * A binary heap of at most `capacity` small integers (ports, switches), each with a time. The earliest comes first, at
 * equal times the lower id. A time can be changed or removed in place. Must not know the meaning of the ids.
 */
#ifndef SW_INDEX_HEAP_H
#define SW_INDEX_HEAP_H

#include <stdint.h>

/* "No event": later than any time. */
#define SW_NEVER INT64_MAX

struct sw_index_heap {
    int64_t *times;     /* by id; SW_NEVER when absent */
    uint32_t *order;    /* the heap, ids */
    uint32_t *position; /* by id: where in the heap */
    uint32_t count, capacity;
};

int sw_index_heap_init(struct sw_index_heap *heap, uint32_t capacity);
void sw_index_heap_free(struct sw_index_heap *heap);

/* Adds, moves or (with SW_NEVER) removes an id. */
void sw_index_heap_set(struct sw_index_heap *heap, uint32_t id, int64_t time_ns);

static inline int64_t sw_index_heap_next_ns(const struct sw_index_heap *heap)
{
    return heap->count ? heap->times[heap->order[0]] : SW_NEVER;
}

/* Must be called only if next_ns is not SW_NEVER. */
static inline uint32_t sw_index_heap_first(const struct sw_index_heap *heap)
{
    return heap->order[0];
}

#endif /* SW_INDEX_HEAP_H */
