/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#define _GNU_SOURCE
#include "ports/burst.h"

#include <errno.h>
#include <string.h>

#define NS_PER_S INT64_C(1000000000)

int sw_burst_receive(struct sw_burst *self, int fd, uint32_t n)
{
    int received;

    for (uint32_t i = 0; i < n; i++)
        self->messages[i].msg_hdr = (struct msghdr){.msg_iov = &self->vectors[i],
                                                    .msg_iovlen = 1,
                                                    .msg_control = &self->controls[i],
                                                    .msg_controllen = sizeof(self->controls[i])};
    received = recvmmsg(fd, self->messages, n, MSG_DONTWAIT | MSG_TRUNC, NULL);
    return received < 0 ? -errno : received;
}

int64_t sw_burst_realtime_ns(struct sw_burst *self, uint32_t i)
{
    struct msghdr *message = &self->messages[i].msg_hdr;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        struct timespec time;

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
            continue;
        memcpy(&time, CMSG_DATA(c), sizeof(time));
        return time.tv_sec * NS_PER_S + time.tv_nsec;
    }
    return 0;
}

uint32_t sw_burst_send(struct sw_burst *self, int fd, uint32_t n, int *error)
{
    uint32_t sent = 0;
    int refused = 0;

    for (uint32_t i = 0; i < n; i++)
        self->messages[i].msg_hdr = (struct msghdr){.msg_iov = &self->vectors[i], .msg_iovlen = 1};
    while (sent < n && !refused) {
        int result = sendmmsg(fd, self->messages + sent, n - sent, MSG_DONTWAIT);

        if (result > 0)
            sent += (uint32_t)result;
        else if (result == 0 || errno != EINTR)
            refused = result == 0 ? EAGAIN : errno;
    }
    if (error)
        *error = refused;
    return sent;
}
