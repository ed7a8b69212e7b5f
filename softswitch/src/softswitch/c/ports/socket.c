/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * An inherited socket as a device, with one frame per message. It connects a switch to another program or to a test
 * without an interface and without privileges. The kernel provides no timestamps on these sockets.
 */
#include "ports/ports.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SEND_WAIT_MS 10

struct socket_device {
    int fd;
};

static int socket_open(const char *address, void **device, char *error, size_t error_bytes)
{
    struct socket_device *self;
    char *end;
    long fd = strtol(address, &end, 10);
    int type = 0;
    socklen_t length = sizeof(type);

    if (end == address || *end || fd < 0 || fd > 65535 ||
        getsockopt((int)fd, SOL_SOCKET, SO_TYPE, &type, &length) < 0 ||
        (type != SOCK_SEQPACKET && type != SOCK_DGRAM)) {
        snprintf(error, error_bytes, "'fd:%s' is not an open datagram or seqpacket socket", address);
        return -EINVAL;
    }
    self = calloc(1, sizeof(*self));
    if (!self) {
        snprintf(error, error_bytes, "no memory");
        return -ENOMEM;
    }
    self->fd = (int)fd;
    *device = self;
    return 0;
}

static int socket_fd(const void *device)
{
    return ((const struct socket_device *)device)->fd;
}

static uint32_t socket_receive(void *device, struct sw_receive_slot *slots, uint32_t n)
{
    struct socket_device *self = device;
    uint32_t received = 0;

    for (; received < n; received++) {
        struct sw_receive_slot *slot = &slots[received];
        struct iovec parts[] = {{slot->packet->buffer + slot->packet->head, slot->packet->len},
                                {slot->rest, SW_REST_BYTES}};
        struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
        ssize_t length = recvmsg(self->fd, &message, MSG_DONTWAIT | MSG_TRUNC);

        if (length <= 0)
            break;
        slot->length = (uint32_t)length;
        slot->stored = slot->length < slot->packet->len ? slot->length : slot->packet->len;
        slot->realtime_ns = 0;
        slot->offload = (struct sw_offload){0};
    }
    return received;
}

/* Waits a moment for a slow reader; a message is never sent in part. */
static uint32_t socket_send(void *device, struct sw_packet *const *packets, uint32_t n, int *error)
{
    struct socket_device *self = device;
    uint32_t sent = 0;

    *error = 0;
    while (sent < n) {
        const struct sw_packet *packet = packets[sent];
        struct pollfd writable = {.fd = self->fd, .events = POLLOUT};

        if (send(self->fd, packet->buffer + packet->head, packet->len, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
            sent++;
            continue;
        }
        if (errno == EINTR)
            continue;
        *error = errno;
        if (errno != EAGAIN || poll(&writable, 1, SEND_WAIT_MS) != 1 || !(writable.revents & POLLOUT))
            break;
        *error = 0;
    }
    return sent;
}

static uint64_t socket_kernel_drops(void *device)
{
    (void)device;
    return 0;
}

static void socket_close(void *device)
{
    struct socket_device *self = device;

    close(self->fd);
    free(self);
}

const struct sw_device_ops sw_socket_device = {
    .scheme = "fd",
    .open = socket_open,
    .fd = socket_fd,
    .receive = socket_receive,
    .send = socket_send,
    .kernel_drops = socket_kernel_drops,
    .close = socket_close,
};
