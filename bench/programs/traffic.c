/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Traffic for benchmarks. `send` sends frames at a packet rate, and reads from the kernel's counters of another
 * interface how many came through. `record` writes the arrival time of each frame on an interface. `probe` sends a
 * frame at a time and writes how long each took to another interface.
 *
 * A file of frames is a sequence of (u16 length, little-endian, then the frame); `send` repeats it.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BURST 64
#define MOST_FRAMES 65536
#define HEADER_BYTES 64
#define BUFFER_BYTES (64 << 20)
#define NS_PER_S INT64_C(1000000000)
#define WAKE_NS INT64_C(100000)     /* time between bursts of paced frames */
#define QUIET_NS INT64_C(200000000) /* silence after which the missing frames count as lost */

struct frames {
    struct iovec vectors[MOST_FRAMES];
    uint32_t count;
};

/* The record that `record` writes for each frame. */
struct arrival {
    int64_t time_ns;
    uint32_t length;
    uint32_t dscp; /* UINT32_MAX when the frame is not IPv4 */
};

static int die(const char *what)
{
    fprintf(stderr, "traffic: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

static int64_t now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * NS_PER_S + time.tv_nsec;
}

static void sleep_until(int64_t ns)
{
    struct timespec time = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static int open_interface(const char *name, uint16_t protocol)
{
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(protocol), .sll_ifindex = (int)if_nametoindex(name)};
    struct packet_mreq promiscuous = {.mr_ifindex = address.sll_ifindex, .mr_type = PACKET_MR_PROMISC};
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), yes = 1, room = BUFFER_BYTES;

    if (!address.sll_ifindex || fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof(yes)) < 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &yes, sizeof(yes)) < 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous, sizeof(promiscuous)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof(yes)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)) < 0 ||
        bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        die(name);
    return fd;
}

static void read_frames(const char *path, struct frames *frames)
{
    FILE *file = fopen(path, "rbe");
    uint8_t prefix[2];

    if (!file)
        die(path);
    while (frames->count < MOST_FRAMES && fread(prefix, 1, 2, file) == 2) {
        size_t length = (size_t)prefix[0] | (size_t)prefix[1] << 8;
        void *bytes = malloc(length + 1);

        if (!bytes || fread(bytes, 1, length, file) != length)
            die(path);
        frames->vectors[frames->count++] = (struct iovec){bytes, length};
    }
    fclose(file);
    if (!frames->count)
        die("no frames");
}

/* Return the frames that the kernel has received on an interface, modulo 2^32. */
static uint32_t received_on(const char *name)
{
    struct ifaddrs *all;
    uint32_t count = 0;

    if (getifaddrs(&all) < 0)
        die("getifaddrs");
    for (const struct ifaddrs *entry = all; entry; entry = entry->ifa_next) {
        if (entry->ifa_addr && entry->ifa_addr->sa_family == AF_PACKET && !strcmp(entry->ifa_name, name))
            count = ((const struct rtnl_link_stats *)entry->ifa_data)->rx_packets;
    }
    freeifaddrs(all);
    return count;
}

/* Send `n` frames from number `first` on, and repeat a frame that the kernel refuses. */
static void send_burst(int fd, const struct frames *frames, uint64_t first, uint32_t n)
{
    struct mmsghdr messages[BURST] = {0};

    for (uint32_t i = 0; i < n; i++) {
        messages[i].msg_hdr.msg_iov = (struct iovec *)&frames->vectors[(first + i) % frames->count];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    for (uint32_t sent = 0; sent < n;) {
        int result = sendmmsg(fd, messages + sent, n - sent, 0);

        if (result < 0 && errno != EINTR && errno != ENOBUFS && errno != EAGAIN)
            die("send");
        sent += result > 0 ? (uint32_t)result : 0;
    }
}

/* Return how many frames are due by `at_ns` at a rate, or `count` when unpaced. */
static uint64_t due_by(int64_t at_ns, int64_t start_ns, uint64_t rate_pps, uint64_t count)
{
    uint64_t due = rate_pps ? (uint64_t)((double)(at_ns - start_ns) * (double)rate_pps / 1e9) + 1 : count;

    return due < count ? due : count;
}

/* Send `count` frames, catching up after delays, and return the time taken in ns. */
static int64_t offer(int fd, const struct frames *frames, uint64_t rate_pps, uint64_t count)
{
    int64_t start_ns = now_ns(), wake_ns = start_ns;

    for (uint64_t sent = 0; sent < count;) {
        uint64_t due = due_by(now_ns(), start_ns, rate_pps, count);

        if (sent >= due) {
            wake_ns = now_ns() + WAKE_NS;
            sleep_until(wake_ns);
            continue;
        }
        due = due - sent < BURST ? due - sent : BURST;
        send_burst(fd, frames, sent, (uint32_t)due);
        sent += due;
    }
    return now_ns() - start_ns;
}

/* Wait until `wanted` frames have arrived or none arrive any more. Return their number, set the last arrival time. */
static uint32_t wait_for(const char *name, uint32_t before, uint32_t wanted, int64_t *last_ns)
{
    uint32_t seen = received_on(name) - before;

    *last_ns = now_ns();
    while (seen < wanted && now_ns() - *last_ns < QUIET_NS) {
        uint32_t count;

        sleep_until(now_ns() + NS_PER_S / 1000);
        count = received_on(name) - before;
        if (count != seen)
            *last_ns = now_ns();
        seen = count;
    }
    return seen;
}

static int send_frames(char **words)
{
    static struct frames frames;
    uint64_t rate_pps = strtoull(words[3], NULL, 10), count = strtoull(words[4], NULL, 10);
    int fd = open_interface(words[0], 0);
    uint32_t before = received_on(words[1]), at_end, received;
    int64_t send_ns, end_ns, last_ns;

    read_frames(words[2], &frames);
    send_ns = offer(fd, &frames, rate_pps, count);
    end_ns = now_ns();
    at_end = received_on(words[1]) - before;
    received = wait_for(words[1], before, (uint32_t)count, &last_ns);
    printf("{\"sent\": %llu, \"received\": %u, \"received_at_end\": %u, \"send_ns\": %lld, \"drain_ns\": %lld}\n",
           (unsigned long long)count, received, at_end, (long long)send_ns, (long long)(last_ns - end_ns));
    return EXIT_SUCCESS;
}

static int64_t timestamp_of(struct msghdr *message)
{
    struct timespec time = {0};

    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS)
            memcpy(&time, CMSG_DATA(c), sizeof(time));
    }
    return time.tv_sec * NS_PER_S + time.tv_nsec;
}

/* Receive one burst into `arrivals`, and return its number of frames. */
static int record_burst(int fd, struct arrival *arrivals, uint32_t room)
{
    static uint8_t headers[BURST][HEADER_BYTES];
    static union {
        char bytes[CMSG_SPACE(sizeof(struct timespec))];
        struct cmsghdr align;
    } controls[BURST];
    struct iovec vectors[BURST];
    struct mmsghdr messages[BURST];
    int n;

    for (int i = 0; i < BURST; i++) {
        vectors[i] = (struct iovec){headers[i], HEADER_BYTES};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &vectors[i],
                                              .msg_iovlen = 1,
                                              .msg_control = &controls[i],
                                              .msg_controllen = sizeof(controls[i])};
    }
    n = recvmmsg(fd, messages, room < BURST ? room : BURST, MSG_DONTWAIT | MSG_TRUNC, NULL);
    for (int i = 0; i < n; i++) {
        bool is_ip = headers[i][12] == 0x08 && headers[i][13] == 0x00;

        arrivals[i] = (struct arrival){.time_ns = timestamp_of(&messages[i].msg_hdr),
                                       .length = messages[i].msg_len,
                                       .dscp = is_ip ? headers[i][15] >> 2 : UINT32_MAX};
    }
    return n > 0 ? n : 0;
}

static int record(char **words)
{
    uint32_t wanted = (uint32_t)strtoul(words[2], NULL, 10), seen = 0;
    int quiet_ms = atoi(words[3]);
    struct arrival *arrivals = calloc(wanted + 1u, sizeof(*arrivals));
    struct pollfd port = {.fd = open_interface(words[0], ETH_P_ALL), .events = POLLIN};
    FILE *file = fopen(words[1], "wbe");

    if (!arrivals || !file)
        die(words[1]);
    puts("ready");
    fflush(stdout);
    while (seen < wanted && poll(&port, 1, quiet_ms) > 0)
        seen += (uint32_t)record_burst(port.fd, arrivals + seen, wanted - seen);
    if (fwrite(arrivals, sizeof(*arrivals), seen, file) != seen || fclose(file) != 0)
        die(words[1]);
    free(arrivals);
    return EXIT_SUCCESS;
}

/* The time (CLOCK_REALTIME) at which the kernel received the frame that ends in `number`; 0 if none does by `until_ns`
 * (CLOCK_MONOTONIC). */
static int64_t await_probe(int fd, uint64_t number, int64_t until_ns)
{
    static uint8_t frame[HEADER_BYTES * BURST];
    union {
        char bytes[CMSG_SPACE(sizeof(struct timespec))];
        struct cmsghdr align;
    } control;
    struct pollfd port = {.fd = fd, .events = POLLIN};

    for (int64_t left_ns; (left_ns = until_ns - now_ns()) > 0;) {
        struct iovec vector = {frame, sizeof(frame)};
        struct msghdr message = {
            .msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
        struct timespec patience = {.tv_sec = left_ns / NS_PER_S, .tv_nsec = left_ns % NS_PER_S};
        ssize_t length;
        uint64_t seen;

        if (ppoll(&port, 1, &patience, NULL) <= 0)
            continue;
        length = recvmsg(fd, &message, MSG_DONTWAIT);
        if (length < (ssize_t)sizeof(seen))
            continue;
        memcpy(&seen, frame + length - sizeof(seen), sizeof(seen));
        if (seen == number)
            return timestamp_of(&message);
    }
    return 0;
}

/* Send a frame, wait for it, and continue after an interval; a wait of 0 in the file stands for a lost frame. */
static int probe(char **words)
{
    static struct frames frames;
    uint64_t count = strtoull(words[4], NULL, 10);
    int64_t interval_ns = strtoll(words[5], NULL, 10) * 1000;
    int out = open_interface(words[0], 0), in = open_interface(words[1], ETH_P_ALL);
    int64_t *waits_ns = calloc(count + 1, sizeof(*waits_ns));
    FILE *file = fopen(words[3], "wbe");

    read_frames(words[2], &frames);
    if (!waits_ns || !file)
        die(words[3]);
    for (uint64_t i = 0; i < count; i++) {
        struct iovec frame = frames.vectors[i % frames.count];
        int64_t begin_ns = now_ns(), arrival_ns;
        struct timespec sent;

        memcpy((uint8_t *)frame.iov_base + frame.iov_len - sizeof(i), &i, sizeof(i));
        clock_gettime(CLOCK_REALTIME, &sent);
        if (send(out, frame.iov_base, frame.iov_len, 0) < 0)
            die("send");
        arrival_ns = await_probe(in, i, now_ns() + NS_PER_S);
        if (arrival_ns)
            waits_ns[i] = arrival_ns - (sent.tv_sec * NS_PER_S + sent.tv_nsec);
        sleep_until(begin_ns + interval_ns);
    }
    if (fwrite(waits_ns, sizeof(*waits_ns), count, file) != count || fclose(file) != 0)
        die(words[3]);
    free(waits_ns);
    puts("{}");
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_TIMERSLACK, 1);
    if (argc == 7 && !strcmp(argv[1], "send"))
        return send_frames(argv + 2);
    if (argc == 6 && !strcmp(argv[1], "record"))
        return record(argv + 2);
    if (argc == 8 && !strcmp(argv[1], "probe"))
        return probe(argv + 2);
    fprintf(stderr,
            "usage: traffic send OUT_IFACE COUNTED_IFACE FRAMES RATE_PPS COUNT    (rate 0: unpaced)\n"
            "       traffic record IFACE FILE COUNT QUIET_MS    (16-byte records; ends after COUNT or a silence)\n"
            "       traffic probe OUT_IFACE IN_IFACE FRAMES FILE COUNT INTERVAL_US    (8-byte waits in ns)\n");
    return 2;
}
