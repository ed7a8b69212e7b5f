/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Devices that carry a switch's frames in a real process, behind one small table of functions. A device moves frames;
 * it knows no switch, no schedule and no clock.
 */
#ifndef SW_PORTS_H
#define SW_PORTS_H

#include "runtime/pipeline.h"

#define SW_BURST 64u

/* Room for one received frame, and what the device says about it. */
struct sw_receive_slot {
    struct sw_packet *packet; /* bytes go to buffer + head, at most packet->len of them */
    uint32_t length;          /* of the frame, also when it was longer than the room */
    int64_t realtime_ns;      /* when the kernel received it (CLOCK_REALTIME), 0 when it does not say */
};

struct sw_device_ops {
    const char *scheme; /* what stands before ':' in an address; NULL for the one without a scheme */
    /* Opens an address; 0 and `*device`, or a negative errno and one line in `error`. */
    int (*open)(const char *address, void **device, char *error, size_t error_bytes);
    /* Readable when frames wait. */
    int (*fd)(const void *device);
    /* Takes up to `n` (<= SW_BURST) frames without waiting; how many. */
    uint32_t (*receive)(void *device, struct sw_receive_slot *slots, uint32_t n);
    /* Sends frames in order; how many went out. The rest was refused and may be dropped. */
    uint32_t (*send)(void *device, struct sw_packet *const *packets, uint32_t n);
    /* Frames that the kernel dropped before `receive` since the last call. */
    uint64_t (*kernel_drops)(void *device);
    void (*close)(void *device);
};

extern const struct sw_device_ops sw_packet_device; /* IFACE: an interface, by AF_PACKET */
extern const struct sw_device_ops sw_socket_device; /* fd:N: an inherited socket that keeps message boundaries */

#endif /* SW_PORTS_H */
