/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The interface of devices that carry a switch's frames in a real process: a small table of functions. A device moves
 * frames; it must know no switch, no schedule and no clock.
 */
#ifndef SW_PORTS_H
#define SW_PORTS_H

#include "ports/offload.h"
#include "runtime/pipeline.h"

#define SW_BURST 64u

#define SW_REST_BYTES 65536u

/* The memory for one received frame, with the device's information about it. */
struct sw_receive_slot {
    struct sw_packet *packet; /* bytes go to buffer + head, at most packet->len of them; the device may move head */
    uint8_t *rest;            /* room for SW_REST_BYTES bytes of a frame that is longer than the packet */
    uint32_t length;          /* full length of the frame, even if it was longer than both */
    uint32_t stored;          /* bytes in the packet; the others are in `rest` */
    int64_t realtime_ns;      /* the kernel's receive time (CLOCK_REALTIME), 0 without a timestamp */
    struct sw_offload offload;
};

struct sw_device_ops {
    const char *scheme; /* the text before ':' in an address; NULL for the driver without a scheme */
    /* Opens an address; returns 0 and sets `*device`, or returns a negative errno with one line in `error`. */
    int (*open)(const char *address, void **device, char *error, size_t error_bytes);
    /* Uses the interface of this index from now on, which has taken the place of the one opened; NULL where a device
     * cannot be replaced. Returns 0 or a negative errno. */
    int (*replace)(void *device, unsigned interface);
    /* The descriptor that is readable when frames wait. */
    int (*fd)(const void *device);
    /* Receives up to `n` (<= SW_BURST) frames without waiting; returns their number. */
    uint32_t (*receive)(void *device, struct sw_receive_slot *slots, uint32_t n);
    /* Sends frames in order; returns how many were sent. `error` is the errno that stopped it, or 0. */
    uint32_t (*send)(void *device, struct sw_packet *const *packets, uint32_t n, int *error);
    /* The number of frames that the kernel dropped before `receive` since the last call. */
    uint64_t (*kernel_drops)(void *device);
    void (*close)(void *device);
};

extern const struct sw_device_ops sw_packet_device; /* IFACE: an interface, by AF_PACKET */
extern const struct sw_device_ops sw_socket_device; /* fd:N: an inherited socket that keeps message boundaries */

#endif /* SW_PORTS_H */
