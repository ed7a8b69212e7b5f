/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Frames that wait for a time, ordered by (time, port, order of the calls): received frames that have not yet entered
 * ingress, and delayed copies. The order in which frames of different ports are handed over has no effect.
 */
#ifndef SW_ARRIVALS_H
#define SW_ARRIVALS_H

#include "common/index_heap.h"
#include "traffic/packet_pool.h"

/* A frame in the heap. `rank` is its port and, for a frame that came out of order, its number. */
struct sw_arrival {
    int64_t time_ns;
    uint64_t rank;
    struct sw_frame *frame;
};

/*
 * A link delivers its frames in order of time. They wait in a list per port, and only the first of each list is in the
 * heap. A frame that is due before the last of its list is in the heap, too.
 */
struct sw_arrivals {
    struct sw_frame_list *lists; /* by port; NULL before the first frame */
    struct sw_arrival *heap;
    size_t count, capacity;
    uint64_t strays; /* number of frames that came out of order */
};

void sw_arrivals_free(struct sw_arrivals *arrivals);

/* Adds a frame that waits for its time_ns at its port; 0 or -ENOMEM. */
int sw_arrivals_push(struct sw_arrivals *arrivals, struct sw_frame *frame);
/* Loads the records of the frames that come first at their ports and are due by `until_ns`. */
void sw_arrivals_prefetch(const struct sw_arrivals *arrivals, int64_t until_ns);
/* Removes and returns the first frame; there must be one. */
struct sw_frame *sw_arrivals_pop(struct sw_arrivals *arrivals);

static inline int64_t sw_arrivals_next_ns(const struct sw_arrivals *arrivals)
{
    return arrivals->count ? arrivals->heap[0].time_ns : SW_NEVER;
}

#endif /* SW_ARRIVALS_H */
