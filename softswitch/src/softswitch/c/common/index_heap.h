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

struct sw_index_node {
    int64_t time_ns;
    uint32_t id;
};

struct sw_index_heap {
    struct sw_index_node *nodes; /* the heap, and behind it a node that never comes */
    uint32_t *position;          /* by id: where in the heap; UINT32_MAX when absent */
    uint32_t count;
};

int sw_index_heap_init(struct sw_index_heap *heap, uint32_t capacity);
void sw_index_heap_free(struct sw_index_heap *heap);

/* Adds, moves or (with SW_NEVER) removes an id. */
void sw_index_heap_set(struct sw_index_heap *heap, uint32_t id, int64_t time_ns);

static inline int64_t sw_index_heap_next_ns(const struct sw_index_heap *heap)
{
    return heap->nodes[0].time_ns;
}

/* Must be called only if next_ns is not SW_NEVER. */
static inline uint32_t sw_index_heap_first(const struct sw_index_heap *heap)
{
    return heap->nodes[0].id;
}

#endif /* SW_INDEX_HEAP_H */
