/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Frames that wait for a time, ordered by (time, port, sequence): received frames that have not yet entered ingress,
 * and delayed copies. The order in which frames of different ports are handed over has no effect.
 */
#ifndef SW_ARRIVALS_H
#define SW_ARRIVALS_H

#include "common/index_heap.h"
#include "traffic/packet_pool.h"

struct sw_arrival {
    int64_t time_ns;
    uint32_t port;
    uint64_t sequence;
    struct sw_frame *frame;
};

/*
 * Most frames come in order of time. They are appended to the ring `run` without sorting. A frame earlier than the last
 * of the ring goes to the heap.
 */
struct sw_arrivals {
    struct sw_arrival *run;
    size_t run_first, run_count, run_capacity; /* the capacity is a power of two */
    struct sw_arrival *heap;
    size_t count, capacity;
    uint64_t sequence;
};

void sw_arrivals_free(struct sw_arrivals *arrivals);

/* 0 or -ENOMEM. */
int sw_arrivals_push(struct sw_arrivals *arrivals, int64_t time_ns, struct sw_frame *frame);
/* Removes and returns the first frame; there must be one. */
struct sw_frame *sw_arrivals_pop(struct sw_arrivals *arrivals);

static inline int64_t sw_arrivals_next_ns(const struct sw_arrivals *arrivals)
{
    int64_t run_ns = arrivals->run_count ? arrivals->run[arrivals->run_first].time_ns : SW_NEVER;
    int64_t heap_ns = arrivals->count ? arrivals->heap[0].time_ns : SW_NEVER;

    return run_ns < heap_ns ? run_ns : heap_ns;
}

#endif /* SW_ARRIVALS_H */
