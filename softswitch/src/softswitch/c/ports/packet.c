/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * A network interface as a device: a raw AF_PACKET socket that receives every frame that arrives at the interface, and
 * another one that sends.
 *
 * The kernel removes the outer VLAN tag of a frame and delivers it in the auxiliary data; this file puts it back. The
 * header that precedes each received frame (PACKET_VNET_HDR) says what the sender left to a network card: offload.h.
 */
#define _GNU_SOURCE
#include "ports/burst.h"
#include "ports/ports.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFER_BYTES (32 << 20)
#define TAG_PLACE 12u /* behind both MAC addresses */
#define TAG_BYTES 4u
#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

_Static_assert(SW_BURST <= SW_BURST_FRAMES, "a device's burst fits a system call's");

_Static_assert(sizeof(struct virtio_net_hdr) <= SW_HEADROOM, "the kernel's header fits before a frame");

struct packet_device {
    int fd;
    int sending_fd;
    uint64_t unreadable; /* frames that the kernel could not hand over, since the last packet_kernel_drops */
    struct sw_burst burst;
};

static int set_option(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof(value)) < 0 ? -errno : 0;
}

/* Sets options before the socket is bound, so that they apply to every frame. */
static int configure_receiving(int fd)
{
    int result = set_option(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);

    if (result == 0)
        result = set_option(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
    if (result == 0)
        result = set_option(fd, SOL_PACKET, PACKET_AUXDATA, 1);
    if (result == 0)
        result = set_option(fd, SOL_PACKET, PACKET_VNET_HDR, 1);
    if (set_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES) < 0)
        set_option(fd, SOL_SOCKET, SO_RCVBUF, BUFFER_BYTES);
    return result;
}

static void configure_sending(int fd)
{
    if (set_option(fd, SOL_SOCKET, SO_SNDBUFFORCE, BUFFER_BYTES) < 0)
        set_option(fd, SOL_SOCKET, SO_SNDBUF, BUFFER_BYTES);
    /* Bypasses the queueing discipline: the switch models the wire itself. A veth has none anyway. */
    set_option(fd, SOL_PACKET, PACKET_QDISC_BYPASS, 1);
}

/* A protocol of 0 receives nothing. */
static int bind_to(int fd, unsigned index, uint16_t protocol)
{
    struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(protocol), .sll_ifindex = (int)index};

    return bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
}

static int packet_replace(void *device, unsigned interface)
{
    struct packet_device *self = device;
    struct packet_mreq promiscuous = {.mr_ifindex = (int)interface, .mr_type = PACKET_MR_PROMISC};
    int result = 0, pending;
    socklen_t bytes = sizeof(pending);

    /* The interface that was here before has left an error on its sockets. */
    getsockopt(self->fd, SOL_SOCKET, SO_ERROR, &pending, &bytes);
    getsockopt(self->sending_fd, SOL_SOCKET, SO_ERROR, &pending, &bytes);
    if (setsockopt(self->fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous, sizeof(promiscuous)) < 0)
        result = -errno;
    if (result == 0)
        result = bind_to(self->sending_fd, interface, 0);
    return result == 0 ? bind_to(self->fd, interface, ETH_P_ALL) : result;
}

static int open_sockets(struct packet_device *self, unsigned index)
{
    int result;

    self->sending_fd = -1;
    self->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (self->fd >= 0)
        self->sending_fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (self->sending_fd < 0)
        return -errno;
    configure_sending(self->sending_fd);
    result = configure_receiving(self->fd);
    return result == 0 ? packet_replace(self, index) : result;
}

static void packet_close(void *device)
{
    struct packet_device *self = device;

    if (self->fd >= 0)
        close(self->fd);
    if (self->sending_fd >= 0)
        close(self->sending_fd);
    free(self);
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
    result = open_sockets(self, index);
    if (result < 0) {
        snprintf(error, error_bytes, "cannot open interface '%s': %s%s", name, strerror(-result),
                 result == -EPERM ? " (raw sockets need CAP_NET_RAW)" : "");
        packet_close(self);
        return result;
    }
    *device = self;
    return 0;
}

static int packet_fd(const void *device)
{
    return ((const struct packet_device *)device)->fd;
}

/* Each frame is received behind room for a tag and for the kernel's header. */
static void aim(struct sw_burst *burst, uint32_t i, const struct sw_receive_slot *slot)
{
    uint8_t *frame = slot->packet->buffer + slot->packet->head + TAG_BYTES;

    burst->vectors[i][0] = (struct iovec){frame - sizeof(struct virtio_net_hdr),
                                          slot->packet->len - TAG_BYTES + sizeof(struct virtio_net_hdr)};
    burst->vectors[i][1] = (struct iovec){slot->rest, SW_REST_BYTES};
}

static struct sw_offload offload_of(const struct virtio_net_hdr *header)
{
    static const uint8_t kinds[] = {[VIRTIO_NET_HDR_GSO_NONE] = SW_SEGMENTS_NONE,
                                    [VIRTIO_NET_HDR_GSO_TCPV4] = SW_SEGMENTS_TCP,
                                    [VIRTIO_NET_HDR_GSO_TCPV6] = SW_SEGMENTS_TCP,
                                    [VIRTIO_NET_HDR_GSO_UDP_L4] = SW_SEGMENTS_UDP,
                                    [VIRTIO_NET_HDR_GSO_UDP] = SW_SEGMENTS_UNKNOWN};
    uint8_t type = header->gso_type & (uint8_t)~VIRTIO_NET_HDR_GSO_ECN;

    return (struct sw_offload){.needs_checksum = header->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM,
                               .kind = type < sizeof(kinds) ? kinds[type] : SW_SEGMENTS_UNKNOWN,
                               .checksum_start = header->csum_start,
                               .checksum_offset = header->csum_offset,
                               .segment_bytes = header->gso_size};
}

/* Puts the outer VLAN tag back. Only the MAC addresses move, into the room before the frame. */
static void restore_tag(struct sw_receive_slot *slot, const struct sw_notes *notes)
{
    uint8_t *frame = slot->packet->buffer + slot->packet->head;
    uint16_t tag[2] = {htons(notes->tag_type), htons(notes->tag)};

    memmove(frame, frame + TAG_BYTES, TAG_PLACE);
    memcpy(frame + TAG_PLACE, tag, sizeof(tag));
    slot->length += TAG_BYTES;
    slot->stored += TAG_BYTES;
    slot->offload.checksum_start += (uint16_t)TAG_BYTES;
}

static void fill_slot(struct sw_burst *burst, uint32_t i, struct sw_receive_slot *slot)
{
    struct sw_notes notes = sw_burst_notes(burst, i);
    uint32_t room = slot->packet->len - TAG_BYTES;
    struct virtio_net_hdr header;

    memcpy(&header, burst->vectors[i][0].iov_base, sizeof(header));
    slot->length = burst->messages[i].msg_len - (uint32_t)sizeof(header);
    slot->stored = slot->length < room ? slot->length : room;
    slot->realtime_ns = notes.realtime_ns;
    slot->offload = offload_of(&header);
    if (notes.tag_type && slot->length >= TAG_PLACE)
        restore_tag(slot, &notes);
    else
        slot->packet->head += TAG_BYTES;
}

static uint32_t packet_receive(void *device, struct sw_receive_slot *slots, uint32_t n)
{
    struct packet_device *self = device;
    int received;

    for (uint32_t i = 0; i < n; i++)
        aim(&self->burst, i, &slots[i]);
    received = sw_burst_receive(&self->burst, self->fd, n);
    /* The kernel's header cannot describe the segments of a tunnel; the kernel drops the frame and reports an error. */
    self->unreadable += received == -EINVAL;
    for (int i = 0; i < received; i++)
        fill_slot(&self->burst, (uint32_t)i, &slots[i]);
    return received < 0 ? 0 : (uint32_t)received;
}

static uint32_t packet_send(void *device, struct sw_packet *const *packets, uint32_t n, int *error)
{
    struct packet_device *self = device;

    for (uint32_t i = 0; i < n; i++)
        self->burst.vectors[i][0] = (struct iovec){packets[i]->buffer + packets[i]->head, packets[i]->len};
    return sw_burst_send(&self->burst, self->sending_fd, n, error);
}

static uint64_t packet_kernel_drops(void *device)
{
    struct packet_device *self = device;
    struct tpacket_stats statistics = {0};
    socklen_t length = sizeof(statistics);
    uint64_t unreadable = self->unreadable;

    self->unreadable = 0;
    if (getsockopt(self->fd, SOL_PACKET, PACKET_STATISTICS, &statistics, &length) < 0)
        return unreadable;
    return statistics.tp_drops + unreadable;
}

const struct sw_device_ops sw_packet_device = {
    .scheme = NULL,
    .open = packet_open,
    .replace = packet_replace,
    .fd = packet_fd,
    .receive = packet_receive,
    .send = packet_send,
    .kernel_drops = packet_kernel_drops,
    .close = packet_close,
};
