/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The public definitions of a v1model switch: its ports, the drop reasons and the departure callback.
 */
#ifndef SW_V1MODEL_H
#define SW_V1MODEL_H

#include "runtime/pipeline.h"

#define SW_RECIRCULATION_PORT 510u

#define SW_DEFAULT_MEMORY_LIMIT (UINT64_C(512) << 20)

struct sw_config {
    uint64_t seed; /* seed of the program's random() */
    int64_t epoch_ns;
    int64_t sample_ns;      /* telemetry interval, 0 for none */
    int64_t link_sample_ns; /* interval of the bytes of links, a multiple of sample_ns, 0 for none */
    uint64_t memory_limit;  /* bytes of packet buffer, 0 for the default */
    bool all_ports;         /* every port below 510 has a device from the start */
    bool bmv2_ports;        /* so have ports 510 and 511, and all devices carry frames of 0 bytes */
};

/* The number of recirculations, resubmissions and egress clones after which a packet (or a descendant) is dropped. */
#define SW_PASS_LIMIT 256u
/* The number of these passes of a packet and all of its copies together, after which they are dropped. Copies that copy
 * themselves would otherwise multiply in every pass. */
#define SW_FAMILY_PASS_LIMIT (1u << 14)

/* The reasons of a packet's end. Their names in statistics are in switch/statistics.c. */
enum sw_drop {
    SW_DROP_INGRESS,         /* dropped by the program in ingress */
    SW_DROP_EGRESS,          /* dropped by the program in egress */
    SW_DROP_NO_DEVICE,       /* left by a port that has no device */
    SW_DROP_MEMORY,          /* memory_limit reached, or no memory */
    SW_DROP_PASS_LIMIT,      /* recirculated, resubmitted or cloned too often */
    SW_DROP_NO_COPIES,       /* multicast to an unknown or empty group */
    SW_DROP_BAD_DESTINATION, /* the destination port or class does not exist */
    SW_DROP_BAD_LENGTH,      /* empty, or longer than SW_FRAME_MAX_BYTES */
    SW_DROP_TRANSMIT,        /* the device refused it */
    SW_DROP_LINK_DOWN,       /* lost on a link that was down at one of its ends */
    SW_DROP_LINK_LOSS,       /* lost on a link that loses frames */
    SW_DROP_LINK_UDP_LOSS,   /* lost on a link that loses frames to one UDP port */
    SW_DROP_LINK_CORRUPTED,  /* damaged on a link, so that the MAC at its end finds a wrong frame check sequence */
    SW_DROP_RESTART,         /* held by a switch that lost its power, or arrived while it had none */
    SW_DROP_RECEIVE_RING,    /* the receive ring of its port was full while the switch was stalled */
    SW_DROP_QUEUE_FULL,      /* its queue had reached the depth of set_queue_depth */
    SW_DROP_STEP_LIMIT,      /* the program did not leave a loop */
    SW_DROP_COUNT,
};

/* Receives each departure as soon as its packet starts on the wire, so due_ns may be in the future. The receiver owns
 * the packet until it releases it with sw_switch_release. */
typedef void (*sw_output_fn)(void *ctx, uint32_t port, int64_t due_ns, struct sw_packet *packet);

#endif /* SW_V1MODEL_H */
