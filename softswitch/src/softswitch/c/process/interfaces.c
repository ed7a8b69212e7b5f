/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#define _GNU_SOURCE
#include "process/interfaces.h"

#include "process/netlink.h"
#include "process/notices.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINK_HEADER_BYTES 22u /* of Ethernet, and of two VLAN tags */

struct state {
    uint32_t mtu_bytes;
    bool is_up;
};

int sw_interfaces_watch(struct sw_process *process)
{
    process->link_fd = sw_netlink_open(RTMGRP_LINK | (process->options->follows_links ? RTMGRP_TC : 0));
    return process->link_fd < 0 ? process->link_fd : 0;
}

static bool read_state(const char *name, struct state *state)
{
    struct ifreq request = {0};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool is_read = fd >= 0;

    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    is_read = is_read && ioctl(fd, SIOCGIFMTU, &request) == 0 && request.ifr_mtu > 0;
    state->mtu_bytes = is_read ? (uint32_t)request.ifr_mtu : 0;
    is_read = is_read && ioctl(fd, SIOCGIFFLAGS, &request) == 0;
    state->is_up = is_read && (request.ifr_flags & IFF_UP) && (request.ifr_flags & IFF_RUNNING);
    if (fd >= 0)
        close(fd);
    return is_read;
}

/* Takes over a state. A frame may be as long as the MTU and its headers; a longer one is still received, by way of a
 * copy. */
static void take_state(struct sw_process *process, struct sw_process_device *device, const struct state *state)
{
    uint32_t frame_bytes = state->mtu_bytes + LINK_HEADER_BYTES;

    device->mtu_bytes = state->mtu_bytes;
    device->is_up = state->is_up;
    if (frame_bytes > SW_FRAME_MAX_BYTES)
        frame_bytes = SW_FRAME_MAX_BYTES;
    if (frame_bytes > process->frame_bytes)
        process->frame_bytes = frame_bytes;
}

void sw_interfaces_note(struct sw_process *process, struct sw_process_device *device, const char *name)
{
    struct state state;

    device->interface = if_nametoindex(name);
    snprintf(device->name, sizeof(device->name), "%s", name);
    if (read_state(name, &state))
        take_state(process, device, &state);
}

static void lose(struct sw_process_device *device)
{
    device->interface = 0;
    sw_notice(device, "the interface is gone; the port drops its frames until there is an interface '%s' again",
              device->address);
}

/* Uses the interface that has the name of a lost one, if there is one. */
static void find_again(struct sw_process *process, struct sw_process_device *device)
{
    unsigned index = if_nametoindex(device->address);
    int result;

    if (!index)
        return;
    result = device->ops->replace(device->state, index);
    if (result < 0) {
        sw_notice(device, "cannot open the new interface '%s': %s", device->address, strerror(-result));
        return;
    }
    device->interface = index;
    process->links_changed = process->options->follows_links;
    sw_notice(device, "there is an interface '%s' again; the port uses it", device->address);
}

static void follow_name(struct sw_process *process, struct sw_process_device *device, const char *name)
{
    if (strcmp(name, device->name) == 0)
        return;
    sw_notice(device, "the interface is now called '%s'; the port still uses it", name);
    snprintf(device->name, sizeof(device->name), "%s", name);
    sw_switch_attach_port(process->sw, device->port, name);
}

/* An interface that was made just before the switch comes up later; only a link that goes down is news. */
static void follow_link(struct sw_process_device *device, bool is_up)
{
    if (device->is_up && !is_up) {
        sw_notice(device, "the link is down");
        device->has_lost_link = true;
    } else if (device->has_lost_link && is_up) {
        sw_notice(device, "the link is up");
        device->has_lost_link = false;
    }
}

static void follow_state(struct sw_process *process, struct sw_process_device *device)
{
    struct state state;

    if (!read_state(device->name, &state))
        return;
    if (state.mtu_bytes != device->mtu_bytes) {
        sw_notice(device, "the MTU is now %" PRIu32 " B", state.mtu_bytes);
        device->noticed &= ~(unsigned)SW_NOTICE_OVER_MTU;
    }
    follow_link(device, state.is_up);
    take_state(process, device, &state);
}

static void follow(struct sw_process *process, struct sw_process_device *device)
{
    char name[IF_NAMESIZE];

    if (device->interface && !if_indextoname(device->interface, name))
        lose(device);
    if (!device->interface)
        find_again(process, device);
    if (device->interface && if_indextoname(device->interface, name)) {
        follow_name(process, device, name);
        follow_state(process, device);
    }
}

static void read_link(struct sw_process *process, const struct nlmsghdr *header)
{
    const struct ifinfomsg *message = NLMSG_DATA(header);

    /* The messages of a bridge about its ports have the same type. */
    if (header->nlmsg_len < NLMSG_LENGTH(sizeof(*message)) || message->ifi_family != AF_UNSPEC)
        return;
    for (uint32_t i = 0; i < process->n_devices; i++) {
        struct sw_process_device *device = &process->devices[i];

        if (!device->ops->replace || (device->interface && device->interface != (unsigned)message->ifi_index))
            continue;
        /* Another interface may have the index already. */
        if (header->nlmsg_type == RTM_DELLINK && device->interface)
            lose(device);
        follow(process, device);
    }
}

static void read_discipline(struct sw_process *process, const struct nlmsghdr *header)
{
    const struct tcmsg *message = NLMSG_DATA(header);

    for (uint32_t i = 0; i < process->n_devices && header->nlmsg_len >= NLMSG_LENGTH(sizeof(*message)); i++)
        process->links_changed |=
            process->devices[i].interface && process->devices[i].interface == (unsigned)message->tcm_ifindex;
}

/* Follows everything, after the kernel has lost messages. */
static void follow_all(struct sw_process *process)
{
    process->links_changed = process->options->follows_links;
    for (uint32_t i = 0; i < process->n_devices; i++) {
        if (process->devices[i].ops->replace)
            follow(process, &process->devices[i]);
    }
}

void sw_interfaces_follow(struct sw_process *process)
{
    _Alignas(struct nlmsghdr) uint8_t buffer[SW_NETLINK_BYTES];

    for (;;) {
        ssize_t bytes = recv(process->link_fd, buffer, sizeof(buffer), 0);
        unsigned left = bytes > 0 ? (unsigned)bytes : 0;

        if (bytes < 0 && errno == ENOBUFS) {
            follow_all(process);
            continue;
        }
        if (bytes <= 0)
            return;
        for (struct nlmsghdr *at = (void *)buffer; NLMSG_OK(at, left); at = NLMSG_NEXT(at, left)) {
            if (at->nlmsg_type == RTM_NEWLINK || at->nlmsg_type == RTM_DELLINK)
                read_link(process, at);
            else
                read_discipline(process, at);
        }
    }
}
