/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "traffic/round_robin.h"

#include <stdlib.h>

struct sw_round *sw_round_create(uint32_t count, uint32_t quantum_bytes)
{
    struct sw_round *round = calloc(1, sizeof(*round));

    if (!round)
        return NULL;
    round->count = count;
    round->quantum_bytes = quantum_bytes;
    round->turn = count - 1;
    return round;
}

void sw_round_push(struct sw_round *round, struct sw_frame *frame)
{
    uint32_t index = frame->queue < round->count ? frame->queue : frame->queue % round->count;
    struct sw_round_queue *queue = &round->queues[index];

    sw_frame_list_push(&queue->frames, frame);
    queue->bytes += frame->queued_bytes;
    round->waiting[index / 64] |= UINT64_C(1) << (index % 64);
}

/* The first queue from `index` on that holds packets; SW_ROUND_MAX_QUEUES if there is none. */
static uint32_t first_from(const struct sw_round *round, uint32_t index)
{
    uint32_t word = index / 64;
    uint64_t bits;

    if (word >= SW_ROUND_WORDS)
        return SW_ROUND_MAX_QUEUES;
    bits = round->waiting[word] & ~UINT64_C(0) << (index % 64);
    while (!bits && ++word < SW_ROUND_WORDS)
        bits = round->waiting[word];
    return bits ? word * 64 + (uint32_t)__builtin_ctzll(bits) : SW_ROUND_MAX_QUEUES;
}

/* The first queue in [from, to) that holds packets and may send; SW_ROUND_MAX_QUEUES if there is none. */
static uint32_t first_ready(const struct sw_round *round, uint32_t from, uint32_t to, int64_t now_ns)
{
    uint32_t index = first_from(round, from);

    while (index < to && round->queues[index].pause_until_ns > now_ns)
        index = first_from(round, index + 1);
    return index < to ? index : SW_ROUND_MAX_QUEUES;
}

/* Gives the turn and a quantum to the next queue that holds packets and may send; false if there is none. */
static bool pass_turn(struct sw_round *round, int64_t now_ns)
{
    uint32_t index = first_ready(round, round->turn + 1, SW_ROUND_MAX_QUEUES, now_ns);

    if (index == SW_ROUND_MAX_QUEUES)
        index = first_ready(round, 0, round->turn + 1, now_ns);
    if (index == SW_ROUND_MAX_QUEUES)
        return false;
    round->turn = index;
    round->is_turn = true;
    round->queues[index].deficit_bytes += round->quantum_bytes;
    return true;
}

/* Removes the first frame of the queue whose turn it is. A queue that becomes empty loses its turn. */
static struct sw_frame *take(struct sw_round *round, struct sw_round_queue *queue)
{
    struct sw_frame *frame = sw_frame_list_pop(&queue->frames);

    queue->bytes -= frame->queued_bytes;
    queue->deficit_bytes -= frame->queued_bytes;
    if (!queue->frames.head) {
        queue->deficit_bytes = 0;
        round->waiting[round->turn / 64] &= ~(UINT64_C(1) << (round->turn % 64));
        round->is_turn = false;
    }
    return frame;
}

struct sw_frame *sw_round_pop(struct sw_round *round, int64_t now_ns)
{
    for (;;) {
        struct sw_round_queue *queue = &round->queues[round->turn];

        if (round->is_turn && queue->pause_until_ns <= now_ns &&
            queue->frames.head->queued_bytes <= queue->deficit_bytes)
            return take(round, queue);
        if (!pass_turn(round, now_ns))
            return NULL;
    }
}

int64_t sw_round_next_ns(const struct sw_round *round)
{
    int64_t next_ns = INT64_MAX;

    for (uint32_t i = first_from(round, 0); i < round->count; i = first_from(round, i + 1)) {
        if (round->queues[i].pause_until_ns < next_ns)
            next_ns = round->queues[i].pause_until_ns;
    }
    return next_ns;
}

void sw_round_settle(struct sw_round *round)
{
    for (uint32_t i = first_from(round, 0); i < round->count; i = first_from(round, i + 1)) {
        if (round->queues[i].bytes > round->queues[i].high_bytes)
            round->queues[i].high_bytes = round->queues[i].bytes;
    }
}
