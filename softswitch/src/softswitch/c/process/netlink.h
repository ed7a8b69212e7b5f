/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Sockets and messages of rtnetlink.
 */
#ifndef SW_NETLINK_H
#define SW_NETLINK_H

#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdint.h>

#define SW_NETLINK_BYTES 32768 /* the kernel sends no longer messages */

/* Opens a socket for requests, or a non-blocking one for the messages of multicast groups; returns it or a negative
 * errno. */
int sw_netlink_open(uint32_t groups);

/* Sets places[type] to the attributes of the types below `n`. */
void sw_netlink_sort(const struct rtattr *first, size_t bytes, const struct rtattr **places, unsigned n);

#endif /* SW_NETLINK_H */
