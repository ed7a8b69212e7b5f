/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * What everybody who meets a v1model switch knows of it: its ports, how packets end, how they leave.
 */
#ifndef SW_V1MODEL_H
#define SW_V1MODEL_H

#include "runtime/pipeline.h"

#define SW_RECIRCULATION_PORT 510u

#define SW_DEFAULT_MEMORY_LIMIT (UINT64_C(512) << 20)

struct sw_config {
    uint64_t seed; /* of the program's random() */
    int64_t epoch_ns;
    int64_t sample_ns;     /* telemetry interval, 0 for none */
    uint64_t memory_limit; /* bytes of packet buffer, 0 for the default */
    bool all_ports;        /* every port below 510 has a device from the start */
};

/* How often a packet and its descendants may be recirculated, resubmitted or cloned in egress before it is dropped. */
#define SW_PASS_LIMIT 256u

/* Why a packet ended. The names in statistics are in switch/statistics.c. */
enum sw_drop {
    SW_DROP_INGRESS,         /* the program, in ingress */
    SW_DROP_EGRESS,          /* the program, in egress */
    SW_DROP_NO_DEVICE,       /* left by a port that has no device */
    SW_DROP_MEMORY,          /* memory_limit reached, or no memory */
    SW_DROP_PASS_LIMIT,      /* went round too often */
    SW_DROP_NO_COPIES,       /* multicast to an unknown or empty group */
    SW_DROP_BAD_DESTINATION, /* a copy or class the target does not have */
    SW_DROP_BAD_LENGTH,      /* empty, or longer than SW_FRAME_MAX_BYTES */
    SW_DROP_TRANSMIT,        /* the device refused it */
    SW_DROP_LINK_DOWN,       /* lost on a link that was down at one of its ends */
    SW_DROP_LINK_LOSS,       /* lost on a link that loses frames */
    SW_DROP_LINK_UDP_LOSS,   /* lost on a link that loses frames towards one UDP port */
    SW_DROP_LINK_CORRUPTED,  /* damaged on a link: the MAC at its end finds the check sequence wrong */
    SW_DROP_RESTART,         /* held by a switch that lost its power, or reached it while it had none */
    SW_DROP_RECEIVE_RING,    /* found the ring of its port full while the switch stood still */
    SW_DROP_COUNT,
};

/* Receives each departure as soon as its packet starts on the wire, so due_ns may lie after the present. The packet is
 * the receiver's until it gives it back with sw_switch_release. */
typedef void (*sw_output_fn)(void *ctx, uint32_t port, int64_t due_ns, struct sw_packet *packet);

#endif /* SW_V1MODEL_H */
