/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Sends or receives many frames on one raw socket with one system call, for switches and hosts. A burst owns the
 * structures that the kernel reads and fills; the caller owns the frames and their memory.
 */
#ifndef SW_BURST_H
#define SW_BURST_H

#include <linux/if_packet.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#define SW_BURST_FRAMES 64u

#define SW_BURST_PARTS 2u /* of a frame: the memory of its first bytes, and of the rest */

union sw_notes_room {
    char bytes[CMSG_SPACE(sizeof(struct timespec)) + CMSG_SPACE(sizeof(struct tpacket_auxdata))];
    struct cmsghdr align;
};

/* For frame i: the memory of its bytes (set by the caller; the second part is empty unless it is set), and the kernel's
 * information about it. */
struct sw_burst {
    struct iovec vectors[SW_BURST_FRAMES][SW_BURST_PARTS];
    struct mmsghdr messages[SW_BURST_FRAMES];
    union sw_notes_room controls[SW_BURST_FRAMES];
};

/* The kernel's notes about a received frame, as far as the socket asks for them. */
struct sw_notes {
    int64_t realtime_ns; /* receive time (CLOCK_REALTIME); 0 without a timestamp */
    uint16_t tag;        /* the outer VLAN tag, which the kernel has removed from the frame */
    uint16_t tag_type;   /* EtherType of the tag; 0: no tag was removed */
};

/* Receives up to `n` (<= SW_BURST_FRAMES) waiting frames into vectors[0..n-1]; returns their number or a negative
 * errno. messages[i].msg_len is a frame's full length, even if it was longer than its buffer. */
int sw_burst_receive(struct sw_burst *self, int fd, uint32_t n);

/* The notes about a frame of the latest sw_burst_receive. */
struct sw_notes sw_burst_notes(struct sw_burst *self, uint32_t i);

/* Sends the first parts of vectors[0..n-1] in order; returns how many were sent. `error` is the errno that stopped it,
 * or 0. */
uint32_t sw_burst_send(struct sw_burst *self, int fd, uint32_t n, int *error);

#endif /* SW_BURST_H */
