/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Impairments of a link: loss, damage, duplication and delay of frames. A set holds the impairments of one direction of
 * a link. Each kind draws from its own random stream with its own seed. So a kind does not change which frames another
 * kind affects, and a run can be repeated by its seeds. Must know frames and times, but no pipeline.
 */
#ifndef SW_IMPAIRMENT_H
#define SW_IMPAIRMENT_H

#include "traffic/packet_pool.h"

/* The kinds, in the order in which they are applied. */
enum sw_impairment_kind {
    SW_IMPAIRMENT_LOSS,
    SW_IMPAIRMENT_UDP_LOSS, /* loss of UDP over IPv4 to one port only */
    SW_IMPAIRMENT_CORRUPT,
    SW_IMPAIRMENT_DUPLICATE,
    SW_IMPAIRMENT_JITTER,
    SW_IMPAIRMENT_REORDER,
    SW_IMPAIRMENT_COUNT,
};

#define SW_IMPAIRMENT_ALWAYS_PPB UINT32_C(1000000000)

struct sw_impairment {
    uint32_t rate_ppb; /* share of the frames, in 10^-9; 0: off */
    uint16_t udp_port; /* UDP_LOSS: the destination port */
    int64_t time_ns;   /* JITTER: the maximum delay of a frame; REORDER: the delay of a frame */
    uint64_t random;   /* state of the random stream, initially the seed */
};

struct sw_impairments {
    struct sw_impairment kinds[SW_IMPAIRMENT_COUNT];
    int64_t last_ns; /* due time of the last frame that was not reordered */
};

struct sw_fate {
    enum sw_impairment_kind lost_to; /* the kind that lost the frame; SW_IMPAIRMENT_COUNT if it arrives */
    bool is_doubled;
    int64_t due_ns;
};

/* Creates a set without impairments; NULL when out of memory. */
struct sw_impairments *sw_impairments_create(void);

/*
 * Draws the impairments of a frame that would be due at `due_ns` over a link of `rate_bps` (0: unlimited).
 *
 * Jitter keeps order and spacing, like a queue in the link. A frame is due no earlier than the previous frame plus its
 * own transmission time, so no wire exceeds its rate. No frame is delayed longer than the maximum. A reordered frame
 * does not keep its place: frames that come within its delay overtake it.
 */
struct sw_fate sw_impairments_draw(struct sw_impairments *impairments, const struct sw_frame *frame, int64_t due_ns,
                                   uint64_t rate_bps);

#endif /* SW_IMPAIRMENT_H */
