/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "common/index_heap.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ABSENT UINT32_MAX

int sw_index_heap_init(struct sw_index_heap *heap, uint32_t capacity)
{
    heap->nodes = malloc((capacity + 1) * sizeof(*heap->nodes));
    heap->position = malloc(capacity * sizeof(*heap->position));
    heap->count = 0;
    if (!heap->nodes || !heap->position) {
        sw_index_heap_free(heap);
        return -ENOMEM;
    }
    heap->nodes[0] = (struct sw_index_node){.time_ns = SW_NEVER};
    memset(heap->position, 0xff, capacity * sizeof(*heap->position));
    return 0;
}

void sw_index_heap_free(struct sw_index_heap *heap)
{
    free(heap->nodes);
    free(heap->position);
    *heap = (struct sw_index_heap){0};
}

static inline bool is_before(struct sw_index_node a, struct sw_index_node b)
{
    return a.time_ns < b.time_ns || (a.time_ns == b.time_ns && a.id < b.id);
}

static inline void place(struct sw_index_heap *heap, uint32_t at, struct sw_index_node node)
{
    heap->nodes[at] = node;
    heap->position[node.id] = at;
}

static void sift_up(struct sw_index_heap *heap, uint32_t at, struct sw_index_node node)
{
    for (uint32_t parent; at > 0 && is_before(node, heap->nodes[parent = (at - 1) / 2]); at = parent)
        place(heap, at, heap->nodes[parent]);
    place(heap, at, node);
}

/* The node behind the last is later than any, so that the last parent may have one child. */
static void sift_down(struct sw_index_heap *heap, uint32_t at, struct sw_index_node node)
{
    for (uint32_t child; (child = 2 * at + 1) < heap->count; at = child) {
        child += is_before(heap->nodes[child + 1], heap->nodes[child]);
        if (!is_before(heap->nodes[child], node))
            break;
        place(heap, at, heap->nodes[child]);
    }
    place(heap, at, node);
}

/* Puts a node in a place that is free. */
static void settle(struct sw_index_heap *heap, uint32_t at, struct sw_index_node node)
{
    if (at > 0 && is_before(node, heap->nodes[(at - 1) / 2]))
        sift_up(heap, at, node);
    else
        sift_down(heap, at, node);
}

static void withdraw(struct sw_index_heap *heap, uint32_t at)
{
    struct sw_index_node last = heap->nodes[--heap->count];

    heap->position[heap->nodes[at].id] = ABSENT;
    heap->nodes[heap->count].time_ns = SW_NEVER;
    if (at < heap->count)
        settle(heap, at, last);
}

void sw_index_heap_set(struct sw_index_heap *heap, uint32_t id, int64_t time_ns)
{
    uint32_t at = heap->position[id];

    if (time_ns == SW_NEVER) {
        if (at != ABSENT)
            withdraw(heap, at);
        return;
    }
    if (at == ABSENT) {
        at = heap->count++;
        heap->nodes[heap->count].time_ns = SW_NEVER;
    }
    settle(heap, at, (struct sw_index_node){.time_ns = time_ns, .id = id});
}
