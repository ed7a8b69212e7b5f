/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "common/index_heap.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

int sw_index_heap_init(struct sw_index_heap *heap, uint32_t capacity)
{
    heap->times = malloc(capacity * sizeof(*heap->times));
    heap->order = malloc(capacity * sizeof(*heap->order));
    heap->position = malloc(capacity * sizeof(*heap->position));
    heap->count = 0;
    heap->capacity = capacity;
    if (!heap->times || !heap->order || !heap->position) {
        sw_index_heap_free(heap);
        return -ENOMEM;
    }
    for (uint32_t id = 0; id < capacity; id++)
        heap->times[id] = SW_NEVER;
    return 0;
}

void sw_index_heap_free(struct sw_index_heap *heap)
{
    free(heap->times);
    free(heap->order);
    free(heap->position);
    *heap = (struct sw_index_heap){0};
}

static bool is_before(const struct sw_index_heap *heap, uint32_t a, uint32_t b)
{
    return heap->times[a] < heap->times[b] || (heap->times[a] == heap->times[b] && a < b);
}

static void place(struct sw_index_heap *heap, uint32_t at, uint32_t id)
{
    heap->order[at] = id;
    heap->position[id] = at;
}

static void sift_up(struct sw_index_heap *heap, uint32_t at)
{
    uint32_t id = heap->order[at];

    while (at > 0 && is_before(heap, id, heap->order[(at - 1) / 2])) {
        place(heap, at, heap->order[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    place(heap, at, id);
}

static void sift_down(struct sw_index_heap *heap, uint32_t at)
{
    uint32_t id = heap->order[at];

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && is_before(heap, heap->order[child + 1], heap->order[child]))
            child++;
        if (!is_before(heap, heap->order[child], id))
            break;
        place(heap, at, heap->order[child]);
        at = child;
    }
    place(heap, at, id);
}

static void withdraw(struct sw_index_heap *heap, uint32_t id)
{
    uint32_t at = heap->position[id];
    uint32_t last = heap->order[--heap->count];

    heap->times[id] = SW_NEVER;
    if (last == id)
        return;
    place(heap, at, last);
    sift_up(heap, at);
    sift_down(heap, heap->position[last]);
}

void sw_index_heap_set(struct sw_index_heap *heap, uint32_t id, int64_t time_ns)
{
    bool present = heap->times[id] != SW_NEVER;

    if (time_ns == SW_NEVER) {
        if (present)
            withdraw(heap, id);
        return;
    }
    if (present && heap->times[id] == time_ns)
        return;
    heap->times[id] = time_ns;
    if (!present)
        place(heap, heap->count++, id);
    sift_up(heap, heap->position[id]);
    sift_down(heap, heap->position[id]);
}
