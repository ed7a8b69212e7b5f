/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "traffic/arrivals.h"

#include <errno.h>
#include <stdlib.h>

#define HEADER_BYTES 128u /* headers that most programs parse */

void sw_arrivals_free(struct sw_arrivals *arrivals)
{
    free(arrivals->run);
    free(arrivals->heap);
    *arrivals = (struct sw_arrivals){0};
}

static bool is_before(const struct sw_arrival *a, const struct sw_arrival *b)
{
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns;
    return a->port != b->port ? a->port < b->port : a->sequence < b->sequence;
}

static int reserve_heap(struct sw_arrivals *arrivals)
{
    size_t capacity = arrivals->capacity ? 2 * arrivals->capacity : 256;
    struct sw_arrival *heap;

    if (arrivals->count < arrivals->capacity)
        return 0;
    heap = realloc(arrivals->heap, capacity * sizeof(*heap));
    if (!heap)
        return -ENOMEM;
    arrivals->heap = heap;
    arrivals->capacity = capacity;
    return 0;
}

static struct sw_arrival *run_at(const struct sw_arrivals *arrivals, size_t index)
{
    return &arrivals->run[(arrivals->run_first + index) & (arrivals->run_capacity - 1)];
}

static int reserve_run(struct sw_arrivals *arrivals)
{
    size_t capacity = arrivals->run_capacity ? 2 * arrivals->run_capacity : 256;
    struct sw_arrival *run;

    if (arrivals->run_count < arrivals->run_capacity)
        return 0;
    run = malloc(capacity * sizeof(*run));
    if (!run)
        return -ENOMEM;
    for (size_t i = 0; i < arrivals->run_count; i++)
        run[i] = *run_at(arrivals, i);
    free(arrivals->run);
    arrivals->run = run;
    arrivals->run_first = 0;
    arrivals->run_capacity = capacity;
    return 0;
}

static int push_heap(struct sw_arrivals *arrivals, struct sw_arrival entry)
{
    size_t at;

    if (reserve_heap(arrivals) < 0)
        return -ENOMEM;
    at = arrivals->count++;
    while (at > 0 && is_before(&entry, &arrivals->heap[(at - 1) / 2])) {
        arrivals->heap[at] = arrivals->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    arrivals->heap[at] = entry;
    return 0;
}

int sw_arrivals_push(struct sw_arrivals *arrivals, int64_t time_ns, struct sw_frame *frame)
{
    struct sw_arrival entry = {
        .time_ns = time_ns, .port = frame->port, .sequence = arrivals->sequence++, .frame = frame};

    if (arrivals->run_count && is_before(&entry, run_at(arrivals, arrivals->run_count - 1)))
        return push_heap(arrivals, entry);
    if (reserve_run(arrivals) < 0)
        return -ENOMEM;
    *run_at(arrivals, arrivals->run_count++) = entry;
    return 0;
}

/* Loads the record of a frame that may be the one after the next. */
static inline __attribute__((always_inline)) void prefetch_record(const struct sw_frame *frame)
{
    sw_prefetch(frame, sizeof(*frame));
}

/* Loads what a pass of the next frame needs first; its record is in the caches by now. */
static inline __attribute__((always_inline)) void prefetch_next(const struct sw_frame *frame)
{
    sw_prefetch(sw_frame_bytes(frame), HEADER_BYTES);
    sw_prefetch(frame->packet.phv, SW_PHV_START_BYTES);
}

static struct sw_frame *pop_heap(struct sw_arrivals *arrivals)
{
    struct sw_frame *first = arrivals->heap[0].frame;
    struct sw_arrival entry = arrivals->heap[--arrivals->count];
    size_t at = 0;

    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= arrivals->count)
            break;
        if (child + 1 < arrivals->count && is_before(&arrivals->heap[child + 1], &arrivals->heap[child]))
            child++;
        if (!is_before(&arrivals->heap[child], &entry))
            break;
        arrivals->heap[at] = arrivals->heap[child];
        at = child;
    }
    arrivals->heap[at] = entry;
    if (arrivals->count > 0)
        prefetch_next(arrivals->heap[0].frame);
    for (size_t child = 1; child < 3 && child < arrivals->count; child++)
        prefetch_record(arrivals->heap[child].frame);
    return first;
}

struct sw_frame *sw_arrivals_pop(struct sw_arrivals *arrivals)
{
    struct sw_arrival *first;

    if (!arrivals->run_count || (arrivals->count && is_before(&arrivals->heap[0], run_at(arrivals, 0))))
        return pop_heap(arrivals);
    first = run_at(arrivals, 0);
    arrivals->run_first = (arrivals->run_first + 1) & (arrivals->run_capacity - 1);
    arrivals->run_count--;
    if (arrivals->run_count > 0)
        prefetch_next(run_at(arrivals, 0)->frame);
    if (arrivals->run_count > 1)
        prefetch_record(run_at(arrivals, 1)->frame);
    return first->frame;
}
