/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Frames that have been received but have not yet entered ingress, ordered by (time, sequence of reception).
 */
#ifndef SW_ARRIVALS_H
#define SW_ARRIVALS_H

#include "index_heap.h"
#include "packet_pool.h"

struct sw_arrival {
    int64_t time_ns;
    uint64_t sequence;
    struct sw_frame *frame;
};

struct sw_arrivals {
    struct sw_arrival *heap;
    size_t count, capacity;
    uint64_t sequence;
};

void sw_arrivals_free(struct sw_arrivals *arrivals);

/* 0 or -ENOMEM. */
int sw_arrivals_push(struct sw_arrivals *arrivals, int64_t time_ns, struct sw_frame *frame);
struct sw_frame *sw_arrivals_pop(struct sw_arrivals *arrivals);

static inline int64_t sw_arrivals_next_ns(const struct sw_arrivals *arrivals)
{
    return arrivals->count ? arrivals->heap[0].time_ns : SW_NEVER;
}

#endif /* SW_ARRIVALS_H */
