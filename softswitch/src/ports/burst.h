/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Many frames through one raw socket with one system call, for switches and hosts alike. A burst owns what the kernel
 * reads and fills; frames and their memory are the caller's.
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

/* Of frame i: where its bytes go or come from (set by the caller), and what the kernel says about it. */
struct sw_burst {
    struct iovec vectors[SW_BURST_FRAMES];
    struct mmsghdr messages[SW_BURST_FRAMES];
    union sw_timestamp_room controls[SW_BURST_FRAMES];
};

/* Takes up to `n` (<= SW_BURST_FRAMES) waiting frames into vectors[0..n-1]; how many, or a negative errno.
 * messages[i].msg_len is a frame's length, also where it was longer than its room. */
int sw_burst_receive(struct sw_burst *self, int fd, uint32_t n);

/* When the kernel received a frame of the latest sw_burst_receive (CLOCK_REALTIME, ns), 0 when it does not say. */
int64_t sw_burst_realtime_ns(struct sw_burst *self, uint32_t i);

/* Sends vectors[0..n-1] in order; how many went out, and in `error` (may be NULL) the errno that stopped it, or 0. */
uint32_t sw_burst_send(struct sw_burst *self, int fd, uint32_t n, int *error);

#endif /* SW_BURST_H */
