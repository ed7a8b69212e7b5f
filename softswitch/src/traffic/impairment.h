/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * What a bad link does to frames: loses, damages or doubles them, holds them back. One set stands for one direction of
 * one link. Each kind draws from a stream of its own, seeded by whoever sets it, so that a kind changes nothing of what
 * another one hits, and a run of one seed stays what it was. Knows frames and times, not what a pipeline does to them.
 */
#ifndef SW_IMPAIRMENT_H
#define SW_IMPAIRMENT_H

#include "traffic/packet_pool.h"

/* In the order in which they are drawn. */
enum sw_impairment_kind {
    SW_IMPAIRMENT_LOSS,
    SW_IMPAIRMENT_UDP_LOSS, /* of UDP over IPv4 towards one port only */
    SW_IMPAIRMENT_CORRUPT,
    SW_IMPAIRMENT_DUPLICATE,
    SW_IMPAIRMENT_JITTER,
    SW_IMPAIRMENT_REORDER,
    SW_IMPAIRMENT_COUNT,
};

#define SW_IMPAIRMENT_ALWAYS_PPB UINT32_C(1000000000)

struct sw_impairment {
    uint32_t rate_ppb; /* share of the frames, in 10^-9; 0: off */
    uint16_t udp_port; /* of UDP_LOSS */
    int64_t time_ns;   /* JITTER: the most that a frame is held back; REORDER: what it is held back */
    uint64_t random;   /* state of its stream; the seed to begin with */
};

struct sw_impairments {
    struct sw_impairment kinds[SW_IMPAIRMENT_COUNT];
    int64_t last_ns; /* when the last frame that kept its place is due */
};

struct sw_fate {
    enum sw_impairment_kind lost_to; /* SW_IMPAIRMENT_COUNT: it arrives */
    bool is_doubled;
    int64_t due_ns;
};

/* None set; NULL when out of memory. */
struct sw_impairments *sw_impairments_create(void);

/*
 * What happens to a frame that would be due at `due_ns` over a link of `rate_bps` (0: unlimited).
 *
 * Jitter keeps order and spacing, as a queue in the link would: a frame is due no earlier than the one before it plus
 * the time that it takes, so no wire carries more than its rate, and no frame is held back longer than the most. A
 * frame that is reordered keeps no place: whatever comes within its time goes first.
 */
struct sw_fate sw_impairments_draw(struct sw_impairments *impairments, const struct sw_frame *frame, int64_t due_ns,
                                   uint64_t rate_bps);

#endif /* SW_IMPAIRMENT_H */
