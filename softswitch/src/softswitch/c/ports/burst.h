/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Sends or receives many frames on one raw socket with one system call, for switches and hosts. A burst owns the
 * structures that the kernel reads and fills; the caller owns the frames and their memory.
 */
#ifndef SW_BURST_H
#define SW_BURST_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#define SW_BURST_FRAMES 64u

union sw_timestamp_room {
    char bytes[CMSG_SPACE(sizeof(struct timespec))];
    struct cmsghdr align;
};

/* For frame i: the memory of its bytes (set by the caller), and the kernel's information about it. */
struct sw_burst {
    struct iovec vectors[SW_BURST_FRAMES];
    struct mmsghdr messages[SW_BURST_FRAMES];
    union sw_timestamp_room controls[SW_BURST_FRAMES];
};

/* Receives up to `n` (<= SW_BURST_FRAMES) waiting frames into vectors[0..n-1]; returns their number or a negative
 * errno. messages[i].msg_len is a frame's full length, even if it was longer than its buffer. */
int sw_burst_receive(struct sw_burst *self, int fd, uint32_t n);

/* The kernel's receive time of a frame of the latest sw_burst_receive (CLOCK_REALTIME, ns); 0 without a timestamp. */
int64_t sw_burst_realtime_ns(struct sw_burst *self, uint32_t i);

/* Sends vectors[0..n-1] in order; returns how many were sent. `error` (may be NULL) is the errno that stopped it, or 0.
 */
uint32_t sw_burst_send(struct sw_burst *self, int fd, uint32_t n, int *error);

#endif /* SW_BURST_H */
