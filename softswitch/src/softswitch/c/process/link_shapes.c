/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Queueing disciplines are read by rtnetlink. TCLink makes one of three trees for a rate: htb or hfsc with a default
 * class, or tbf. A delay is a netem below, or alone.
 */
#include "process/link_shapes.h"

#include "process/netlink.h"

#include <errno.h>
#include <linux/pkt_sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BITS 8u

/* The parts of a tree that decide the shape. */
struct tree {
    unsigned index;
    uint32_t class_; /* the class of packets that no filter classifies; 0: none */
    struct sw_link_shape shape;
};

/* Copies the contents of an attribute; false if it is absent or short. */
static bool take(const struct rtattr *attribute, void *to, size_t bytes)
{
    if (!attribute || RTA_PAYLOAD(attribute) < bytes)
        return false;
    memcpy(to, RTA_DATA(attribute), bytes);
    return true;
}

/* The rate in bits/s of a ratespec and its 64-bit form, which is there if the rate does not fit in 32 bits. */
static uint64_t rate_bps(const struct tc_ratespec *rate, const struct rtattr *wide)
{
    uint64_t bytes_per_s = rate->rate;

    take(wide, &bytes_per_s, sizeof(bytes_per_s));
    return bytes_per_s * BITS;
}

static void read_htb(const struct tcmsg *message, const struct rtattr *options, struct tree *tree)
{
    const struct rtattr *parts[TCA_HTB_MAX + 1];
    struct tc_htb_glob global;

    sw_netlink_sort(RTA_DATA(options), RTA_PAYLOAD(options), parts, TCA_HTB_MAX + 1);
    if (take(parts[TCA_HTB_INIT], &global, sizeof(global)) && global.defcls)
        tree->class_ = TC_H_MAJ(message->tcm_handle) | TC_H_MIN(global.defcls);
}

static void read_hfsc(const struct tcmsg *message, const struct rtattr *options, struct tree *tree)
{
    struct tc_hfsc_qopt global;

    if (take(options, &global, sizeof(global)) && global.defcls)
        tree->class_ = TC_H_MAJ(message->tcm_handle) | TC_H_MIN(global.defcls);
}

static void read_tbf(const struct rtattr *options, struct tree *tree)
{
    const struct rtattr *parts[TCA_TBF_MAX + 1];
    struct tc_tbf_qopt bucket;

    sw_netlink_sort(RTA_DATA(options), RTA_PAYLOAD(options), parts, TCA_TBF_MAX + 1);
    if (take(parts[TCA_TBF_PARMS], &bucket, sizeof(bucket)))
        tree->shape.rate_bps = rate_bps(&bucket.rate, parts[TCA_TBF_RATE64]);
}

static void read_netem(const struct rtattr *options, struct tree *tree)
{
    const struct rtattr *parts[TCA_NETEM_MAX + 1];
    size_t header = RTA_ALIGN(sizeof(struct tc_netem_qopt));
    int64_t delay_ns;

    if (RTA_PAYLOAD(options) < header)
        return;
    sw_netlink_sort((const struct rtattr *)(const void *)((const uint8_t *)RTA_DATA(options) + header),
                    RTA_PAYLOAD(options) - header, parts, TCA_NETEM_MAX + 1);
    if (take(parts[TCA_NETEM_LATENCY64], &delay_ns, sizeof(delay_ns)) && delay_ns >= 0)
        tree->shape.delay_ns = delay_ns;
}

static void read_class(const struct tcmsg *message, const char *kind, const struct rtattr *options, struct tree *tree)
{
    const struct rtattr *parts[TCA_HTB_MAX + 1];
    struct tc_service_curve curve;
    struct tc_htb_opt htb;

    if (message->tcm_handle != tree->class_)
        return;
    sw_netlink_sort(RTA_DATA(options), RTA_PAYLOAD(options), parts, TCA_HTB_MAX + 1);
    if (strcmp(kind, "htb") == 0 && take(parts[TCA_HTB_PARMS], &htb, sizeof(htb)))
        tree->shape.rate_bps = rate_bps(&htb.rate, parts[TCA_HTB_RATE64]);
    else if (strcmp(kind, "hfsc") == 0 && take(parts[TCA_HFSC_FSC], &curve, sizeof(curve)))
        tree->shape.rate_bps = (uint64_t)curve.m2 * BITS;
}

static void read_message(const struct nlmsghdr *header, struct tree *tree)
{
    const struct tcmsg *message = NLMSG_DATA(header);
    const struct rtattr *parts[TCA_MAX + 1];
    const char *kind;

    if (header->nlmsg_len < NLMSG_LENGTH(sizeof(*message)) || message->tcm_ifindex != (int)tree->index)
        return;
    sw_netlink_sort(TCA_RTA(message), NLMSG_PAYLOAD(header, sizeof(*message)), parts, TCA_MAX + 1);
    if (!parts[TCA_KIND] || !parts[TCA_OPTIONS])
        return;
    kind = RTA_DATA(parts[TCA_KIND]);
    if (header->nlmsg_type == RTM_NEWTCLASS)
        read_class(message, kind, parts[TCA_OPTIONS], tree);
    else if (strcmp(kind, "htb") == 0)
        read_htb(message, parts[TCA_OPTIONS], tree);
    else if (strcmp(kind, "hfsc") == 0)
        read_hfsc(message, parts[TCA_OPTIONS], tree);
    else if (strcmp(kind, "tbf") == 0)
        read_tbf(parts[TCA_OPTIONS], tree);
    else if (strcmp(kind, "netem") == 0)
        read_netem(parts[TCA_OPTIONS], tree);
}

/* Reads every message of the answer to one dump; returns 0 or a negative errno. */
static int read_answer(int fd, struct tree *tree)
{
    _Alignas(struct nlmsghdr) uint8_t buffer[SW_NETLINK_BYTES];

    for (;;) {
        ssize_t bytes = recv(fd, buffer, sizeof(buffer), 0);
        unsigned left = bytes > 0 ? (unsigned)bytes : 0;

        if (bytes <= 0)
            return bytes ? -errno : -EPIPE;
        for (struct nlmsghdr *at = (void *)buffer; NLMSG_OK(at, left); at = NLMSG_NEXT(at, left)) {
            if (at->nlmsg_type == NLMSG_DONE)
                return 0;
            if (at->nlmsg_type == NLMSG_ERROR)
                return ((struct nlmsgerr *)NLMSG_DATA(at))->error;
            read_message(at, tree);
        }
    }
}

static int dump(int fd, uint16_t type, struct tree *tree)
{
    struct {
        struct nlmsghdr header;
        struct tcmsg message;
    } request = {
        .header = {.nlmsg_len = sizeof(request), .nlmsg_type = type, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .message = {.tcm_family = AF_UNSPEC, .tcm_ifindex = (int)tree->index},
    };

    if (send(fd, &request, sizeof(request), 0) < 0)
        return -errno;
    return read_answer(fd, tree);
}

int sw_link_shape_read(unsigned index, struct sw_link_shape *shape)
{
    struct tree tree = {.index = index};
    int fd = sw_netlink_open(0), result;

    if (fd < 0)
        return fd;
    result = dump(fd, RTM_GETQDISC, &tree);
    if (result == 0 && tree.class_)
        result = dump(fd, RTM_GETTCLASS, &tree);
    close(fd);
    if (result == 0)
        *shape = tree.shape;
    return result;
}
