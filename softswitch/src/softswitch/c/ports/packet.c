/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * A network interface as a device: a raw AF_PACKET socket that receives every frame of the interface except those that
 * the socket sent.
 */
#define _GNU_SOURCE
#include "ports/burst.h"
#include "ports/ports.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFER_BYTES (32 << 20)

_Static_assert(SW_BURST <= SW_BURST_FRAMES, "a device's burst fits a system call's");

struct packet_device {
    int fd;
    struct sw_burst burst;
};

static int set_option(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof(value)) < 0 ? -errno : 0;
}

/* Sets options before the socket is bound, so that they apply to every frame. */
static int configure(int fd, int index)
{
    struct packet_mreq promiscuous = {.mr_ifindex = index, .mr_type = PACKET_MR_PROMISC};
    int result = set_option(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);

    if (result == 0)
        result = set_option(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
    if (result == 0 && setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous, sizeof(promiscuous)) < 0)
        result = -errno;
    if (set_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES) < 0)
        set_option(fd, SOL_SOCKET, SO_RCVBUF, BUFFER_BYTES);
    if (set_option(fd, SOL_SOCKET, SO_SNDBUFFORCE, BUFFER_BYTES) < 0)
        set_option(fd, SOL_SOCKET, SO_SNDBUF, BUFFER_BYTES);
    /* Bypasses the queueing discipline: the switch models the wire itself. A veth has none anyway. */
    set_option(fd, SOL_PACKET, PACKET_QDISC_BYPASS, 1);
    return result;
}

static int bind_to(int fd, int index)
{
    struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = index};

    return bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
}

static int packet_open(const char *name, void **device, char *error, size_t error_bytes)
{
    unsigned index = if_nametoindex(name);
    struct packet_device *self;
    int result;

    if (!index) {
        snprintf(error, error_bytes, "no interface '%s'", name);
        return -ENODEV;
    }
    self = calloc(1, sizeof(*self));
    if (!self) {
        snprintf(error, error_bytes, "no memory");
        return -ENOMEM;
    }
    self->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    result = self->fd < 0 ? -errno : configure(self->fd, (int)index);
    if (result == 0)
        result = bind_to(self->fd, (int)index);
    if (result < 0) {
        snprintf(error, error_bytes, "cannot open interface '%s': %s%s", name, strerror(-result),
                 result == -EPERM ? " (raw sockets need CAP_NET_RAW)" : "");
        if (self->fd >= 0)
            close(self->fd);
        free(self);
        return result;
    }
    *device = self;
    return 0;
}

static int packet_fd(const void *device)
{
    return ((const struct packet_device *)device)->fd;
}

static uint32_t packet_receive(void *device, struct sw_receive_slot *slots, uint32_t n)
{
    struct packet_device *self = device;
    int received;

    for (uint32_t i = 0; i < n; i++)
        self->burst.vectors[i] = (struct iovec){slots[i].packet->buffer + slots[i].packet->head, slots[i].packet->len};
    received = sw_burst_receive(&self->burst, self->fd, n);
    for (int i = 0; i < received; i++) {
        slots[i].length = self->burst.messages[i].msg_len;
        slots[i].realtime_ns = sw_burst_realtime_ns(&self->burst, (uint32_t)i);
    }
    return received < 0 ? 0 : (uint32_t)received;
}

static uint32_t packet_send(void *device, struct sw_packet *const *packets, uint32_t n)
{
    struct packet_device *self = device;

    for (uint32_t i = 0; i < n; i++)
        self->burst.vectors[i] = (struct iovec){packets[i]->buffer + packets[i]->head, packets[i]->len};
    return sw_burst_send(&self->burst, self->fd, n, NULL);
}

static uint64_t packet_kernel_drops(void *device)
{
    struct packet_device *self = device;
    struct tpacket_stats statistics = {0};
    socklen_t length = sizeof(statistics);

    if (getsockopt(self->fd, SOL_PACKET, PACKET_STATISTICS, &statistics, &length) < 0)
        return 0;
    return statistics.tp_drops;
}

static void packet_close(void *device)
{
    struct packet_device *self = device;

    close(self->fd);
    free(self);
}

const struct sw_device_ops sw_packet_device = {
    .scheme = NULL,
    .open = packet_open,
    .fd = packet_fd,
    .receive = packet_receive,
    .send = packet_send,
    .kernel_drops = packet_kernel_drops,
    .close = packet_close,
};
