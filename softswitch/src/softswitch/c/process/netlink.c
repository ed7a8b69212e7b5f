/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "process/netlink.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int sw_netlink_open(uint32_t groups)
{
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | (groups ? SOCK_NONBLOCK : 0), NETLINK_ROUTE), error;

    if (fd < 0)
        return -errno;
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    error = -errno;
    close(fd);
    return error;
}

void sw_netlink_sort(const struct rtattr *first, size_t bytes, const struct rtattr **places, unsigned n)
{
    int left = (int)bytes;

    memset(places, 0, n * sizeof(*places));
    for (const struct rtattr *at = first; RTA_OK(at, left); at = RTA_NEXT(at, left)) {
        if ((at->rta_type & NLA_TYPE_MASK) < n)
            places[at->rta_type & NLA_TYPE_MASK] = at;
    }
}
