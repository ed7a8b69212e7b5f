/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The queues of one class of a port, if it has several: a FIFO each, served by deficit round robin (Shreedhar and
 * Varghese, SIGCOMM 1995). A queue that comes to its turn may send another quantum of bytes. What it does not use is
 * kept for its next turn, unless it becomes empty. A paused queue is skipped. Must know neither ports, wires nor
 * classes.
 */
#ifndef SW_ROUND_ROBIN_H
#define SW_ROUND_ROBIN_H

#include "traffic/packet_pool.h"

#define SW_ROUND_MAX_QUEUES 128u
#define SW_ROUND_WORDS (SW_ROUND_MAX_QUEUES / 64u)

struct sw_round_queue {
    struct sw_frame_list frames;
    uint64_t bytes;
    uint64_t high_bytes;    /* highest depth since the last sample, see telemetry.h */
    uint64_t deficit_bytes; /* bytes that the queue may still send in its turn */
    int64_t pause_until_ns;
};

struct sw_round {
    uint32_t count;
    uint32_t quantum_bytes;
    uint32_t turn;                    /* the queue that had the last turn ... */
    bool is_turn;                     /* ... and whether it still has it */
    uint64_t waiting[SW_ROUND_WORDS]; /* a bit per queue that holds packets */
    struct sw_round_queue queues[SW_ROUND_MAX_QUEUES];
};

/* Empty queues, none of them paused; NULL when out of memory. */
struct sw_round *sw_round_create(uint32_t count, uint32_t quantum_bytes);

/* Appends a frame to queue frame->queue, or to that number modulo the number of queues. */
void sw_round_push(struct sw_round *round, struct sw_frame *frame);

/* Removes the next frame in round robin order; NULL if every queue is empty or paused beyond `now_ns`. */
struct sw_frame *sw_round_pop(struct sw_round *round, int64_t now_ns);

/* The earliest time at which a queue that holds packets is not paused; INT64_MAX if there is none. */
int64_t sw_round_next_ns(const struct sw_round *round);

/* Updates the high-water marks with the present depths. */
void sw_round_settle(struct sw_round *round);

#endif /* SW_ROUND_ROBIN_H */
