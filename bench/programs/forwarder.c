/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Bare AF_PACKET forwarder: sends every frame received on one interface out of the other, in batches. It is the
 * baseline for a switch that processes frames in between, so it uses the same sockets, system calls and wake-ups.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define BURST 64
#define FRAME_BYTES 2048
#define BUFFER_BYTES (32 << 20)

struct batch {
    struct mmsghdr messages[BURST];
    struct iovec vectors[BURST];
    uint8_t frames[BURST][FRAME_BYTES];
};

static int set_option(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof(value));
}

static int open_interface(const char *name)
{
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex(name)};
    struct packet_mreq promiscuous = {.mr_ifindex = address.sll_ifindex, .mr_type = PACKET_MR_PROMISC};
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

    if (!address.sll_ifindex || fd < 0 || set_option(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1) < 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous, sizeof(promiscuous)) < 0 ||
        set_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES) < 0 ||
        set_option(fd, SOL_SOCKET, SO_SNDBUFFORCE, BUFFER_BYTES) < 0 ||
        set_option(fd, SOL_PACKET, PACKET_QDISC_BYPASS, 1) < 0 ||
        bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        fprintf(stderr, "forwarder: cannot open '%s': %s\n", name, strerror(errno));
        exit(EXIT_FAILURE);
    }
    return fd;
}

static void send_all(int fd, struct mmsghdr *messages, int n)
{
    for (int sent = 0; sent < n;) {
        int result = sendmmsg(fd, messages + sent, (unsigned)(n - sent), MSG_DONTWAIT);

        if (result <= 0 && errno != EINTR)
            return;
        sent += result > 0 ? result : 0;
    }
}

/* Forward one batch and return its number of frames. */
static int forward(struct batch *batch, int from, int to)
{
    int n;

    for (int i = 0; i < BURST; i++)
        batch->vectors[i].iov_len = FRAME_BYTES;
    n = recvmmsg(from, batch->messages, BURST, MSG_DONTWAIT, NULL);
    if (n <= 0)
        return 0;
    for (int i = 0; i < n; i++)
        batch->vectors[i].iov_len = batch->messages[i].msg_len;
    send_all(to, batch->messages, n);
    return n;
}

int main(int argc, char **argv)
{
    static struct batch batch;
    struct pollfd ports[2];

    if (argc != 3) {
        fprintf(stderr, "usage: forwarder IFACE IFACE\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < BURST; i++) {
        batch.vectors[i].iov_base = batch.frames[i];
        batch.messages[i].msg_hdr = (struct msghdr){.msg_iov = &batch.vectors[i], .msg_iovlen = 1};
    }
    for (int i = 0; i < 2; i++)
        ports[i] = (struct pollfd){.fd = open_interface(argv[1 + i]), .events = POLLIN};
    puts("ready");
    fflush(stdout);
    for (;;) {
        if (poll(ports, 2, -1) < 0 && errno != EINTR)
            return EXIT_FAILURE;
        for (int i = 0; i < 2; i++) {
            while ((ports[i].revents & POLLIN) && forward(&batch, ports[i].fd, ports[1 - i].fd) == BURST)
                ;
        }
    }
}
