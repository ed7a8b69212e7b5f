/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "traffic/arrivals.h"

#include <errno.h>
#include <stdlib.h>

#define HEADER_BYTES 128u /* headers that most programs parse */
#define NUMBER_BITS 48u

void sw_arrivals_free(struct sw_arrivals *arrivals)
{
    free(arrivals->lists);
    free(arrivals->heap);
    *arrivals = (struct sw_arrivals){0};
}

static bool is_before(const struct sw_arrival *a, const struct sw_arrival *b)
{
    return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->rank < b->rank);
}

static int reserve(struct sw_arrivals *arrivals)
{
    size_t capacity = arrivals->capacity ? 2 * arrivals->capacity : 64;
    struct sw_arrival *heap;

    if (!arrivals->lists)
        arrivals->lists = calloc(SW_PORT_COUNT, sizeof(*arrivals->lists));
    if (!arrivals->lists)
        return -ENOMEM;
    if (arrivals->count < arrivals->capacity)
        return 0;
    heap = realloc(arrivals->heap, capacity * sizeof(*heap));
    if (!heap)
        return -ENOMEM;
    arrivals->heap = heap;
    arrivals->capacity = capacity;
    return 0;
}

static void sift_up(struct sw_arrival *heap, size_t at, struct sw_arrival entry)
{
    while (at > 0 && is_before(&entry, &heap[(at - 1) / 2])) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = entry;
}

/* Puts an entry in the place of the first. */
static void replace_first(struct sw_arrival *heap, size_t count, struct sw_arrival entry)
{
    size_t at = 0;

    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count)
            child += is_before(&heap[child + 1], &heap[child]);
        if (!is_before(&heap[child], &entry))
            break;
        heap[at] = heap[child];
    }
    heap[at] = entry;
}

/* The entry of the first frame of a list. It comes before a frame out of order of the same time and port, which can
 * only be a later one: a frame that is due at that time is handed over before, or is behind the first in the list. */
static struct sw_arrival entry_of(struct sw_frame *frame, int64_t time_ns, uint32_t port)
{
    return (struct sw_arrival){.time_ns = time_ns, .rank = (uint64_t)port << NUMBER_BITS, .frame = frame};
}

int sw_arrivals_push(struct sw_arrivals *arrivals, struct sw_frame *frame)
{
    struct sw_arrival entry = entry_of(frame, frame->time_ns, frame->port);
    struct sw_frame_list *list;

    if (reserve(arrivals) < 0)
        return -ENOMEM;
    list = &arrivals->lists[frame->port];
    if (list->tail && frame->time_ns >= list->tail->time_ns) {
        list->tail->next_ns = frame->time_ns;
        sw_frame_list_push(list, frame);
        return 0;
    }
    if (list->tail)
        entry.rank |= ++arrivals->strays & ((UINT64_C(1) << NUMBER_BITS) - 1);
    else
        sw_frame_list_push(list, frame);
    sift_up(arrivals->heap, arrivals->count++, entry);
    return 0;
}

/* Loads what a pass needs first of a frame: its record, and the headers, which are where another frame has them. */
static inline __attribute__((always_inline)) void prefetch(const struct sw_frame *frame, const struct sw_frame *other)
{
    sw_prefetch(frame, sizeof(*frame));
    sw_prefetch((const uint8_t *)frame + (sw_frame_bytes(other) - (const uint8_t *)other), HEADER_BYTES);
}

void sw_arrivals_prefetch(const struct sw_arrivals *arrivals, int64_t until_ns)
{
    for (size_t at = 0; at < arrivals->count; at++) {
        if (arrivals->heap[at].time_ns <= until_ns)
            sw_prefetch(arrivals->heap[at].frame, sizeof(struct sw_frame));
    }
}

struct sw_frame *sw_arrivals_pop(struct sw_arrivals *arrivals)
{
    struct sw_arrival *heap = arrivals->heap;
    struct sw_frame *frame = heap[0].frame;
    struct sw_frame_list *list = &arrivals->lists[frame->port];
    struct sw_frame *next = NULL;

    if (frame == list->head) {
        sw_frame_list_pop(list);
        next = list->head;
    }
    if (next) {
        prefetch(next, frame);
        replace_first(heap, arrivals->count, entry_of(next, frame->next_ns, frame->port));
    } else if (--arrivals->count) {
        replace_first(heap, arrivals->count, heap[arrivals->count]);
    }
    return frame;
}
