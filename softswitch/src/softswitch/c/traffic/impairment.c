/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "traffic/impairment.h"

#include <stdlib.h>

#include "arithmetic/bits.h"

#define NS_PER_S UINT64_C(1000000000)
#define ETHERTYPE_OFFSET 12u
#define IP_OFFSET 14u
#define IP_PROTOCOL_OFFSET (IP_OFFSET + 9)
#define ETHERTYPE_IPV4 0x0800u
#define PROTOCOL_UDP 17u
#define LEAST_IP_BYTES 20u

struct sw_impairments *sw_impairments_create(void)
{
    struct sw_impairments *impairments = calloc(1, sizeof(*impairments));

    if (impairments)
        impairments->last_ns = INT64_MIN / 2;
    return impairments;
}

/* A random number, uniform in 0 .. bound - 1. */
static uint64_t draw_below(struct sw_impairment *impairment, uint64_t bound)
{
    return (uint64_t)((sw_u128)sw_next_random(&impairment->random) * bound >> 64);
}

static bool hits(struct sw_impairment *impairment)
{
    return impairment->rate_ppb && draw_below(impairment, SW_IMPAIRMENT_ALWAYS_PPB) < impairment->rate_ppb;
}

static bool is_udp_towards(const struct sw_frame *frame, uint16_t udp_port)
{
    const uint8_t *bytes = sw_frame_bytes(frame);
    uint32_t len = frame->packet.len, udp;

    if (len < IP_OFFSET + LEAST_IP_BYTES || sw_get16(bytes + ETHERTYPE_OFFSET) != ETHERTYPE_IPV4 ||
        bytes[IP_PROTOCOL_OFFSET] != PROTOCOL_UDP)
        return false;
    udp = IP_OFFSET + 4u * (bytes[IP_OFFSET] & 0xF);
    return len >= udp + 4 && sw_get16(bytes + udp + 2) == udp_port;
}

static enum sw_impairment_kind loss_of(struct sw_impairments *impairments, const struct sw_frame *frame)
{
    struct sw_impairment *kinds = impairments->kinds;

    if (hits(&kinds[SW_IMPAIRMENT_LOSS]))
        return SW_IMPAIRMENT_LOSS;
    if (kinds[SW_IMPAIRMENT_UDP_LOSS].rate_ppb && is_udp_towards(frame, kinds[SW_IMPAIRMENT_UDP_LOSS].udp_port) &&
        hits(&kinds[SW_IMPAIRMENT_UDP_LOSS]))
        return SW_IMPAIRMENT_UDP_LOSS;
    return hits(&kinds[SW_IMPAIRMENT_CORRUPT]) ? SW_IMPAIRMENT_CORRUPT : SW_IMPAIRMENT_COUNT;
}

struct sw_fate sw_impairments_draw(struct sw_impairments *impairments, const struct sw_frame *frame, int64_t due_ns,
                                   uint64_t rate_bps)
{
    struct sw_impairment *kinds = impairments->kinds, *jitter = &kinds[SW_IMPAIRMENT_JITTER];
    struct sw_fate fate = {.lost_to = loss_of(impairments, frame), .due_ns = due_ns};

    if (fate.lost_to != SW_IMPAIRMENT_COUNT)
        return fate;
    fate.is_doubled = hits(&kinds[SW_IMPAIRMENT_DUPLICATE]);
    /* Keeps last_ns when jitter is switched off: later frames must not overtake frames that were delayed before. */
    if (jitter->time_ns) {
        int64_t spacing_ns =
            rate_bps ? (int64_t)((uint64_t)sw_packet_bytes(&frame->packet) * 8 * NS_PER_S / rate_bps) : 0;

        if (hits(jitter))
            fate.due_ns += (int64_t)draw_below(jitter, (uint64_t)jitter->time_ns + 1);
        if (fate.due_ns < impairments->last_ns + spacing_ns)
            fate.due_ns = impairments->last_ns + spacing_ns;
        impairments->last_ns = fate.due_ns;
    }
    if (hits(&kinds[SW_IMPAIRMENT_REORDER]))
        fate.due_ns += kinds[SW_IMPAIRMENT_REORDER].time_ns;
    return fate;
}
