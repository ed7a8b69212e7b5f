/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The event loop of a switch's process. A round reads the clock, gives each device with waiting frames a turn, runs the
 * core up to that time and sends the frames that are due. The core sees the kernel's receive times, merged over all
 * ports. Its schedule therefore follows the ideal wire even if the process runs late. Lateness occurs only when frames
 * are sent; it is measured there and never accumulates.
 *
 * A departure is known one serialization time and one propagation delay before it is due. So the process need not wake
 * for every event, which lets many switches share few cores. While frames flow, it collects them for a quarter of the
 * shortest propagation delay. With a window (--window-ns), it wakes half a window after the first departure is due and
 * also sends those that are due half a window later, so that frames are as often early as late. It never spins.
 */
#define _GNU_SOURCE
#include "process/process_state.h"

#include "process/interfaces.h"
#include "process/link_shapes.h"
#include "process/notices.h"
#include "process/reception.h"
#include "traffic/telemetry.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S INT64_C(1000000000)
#define CHORE_INTERVAL_NS (NS_PER_S / 10)
#define MOST_SLACK_NS INT64_C(10000000) /* control commands wait as long */
#define SLACK_SHARE 4
#define MOST_EVENTS 64

/* Records a departure: how late or early it was, and its distance from the frame before it. */
static void measure_departure(struct sw_process *process, struct sw_process_device *device,
                              const struct sw_packet *packet, struct sw_departed departed)
{
    int64_t late_ns = llabs(departed.sent_ns - departed.due_ns);

    sw_lateness_record(sw_switch_departure_lateness(process->sw), late_ns);
    sw_late_bins_record(&process->late_bins, departed.sent_ns, late_ns);
    sw_spacing_record(sw_switch_spacing(process->sw), &device->departed, departed, packet->len,
                      sw_switch_rate_bps(process->sw, device->port));
}

static void capture_sent(struct sw_process_device *device, struct sw_packet *const *burst, uint32_t n)
{
    int64_t realtime_ns = device->capture ? sw_read_clock(CLOCK_REALTIME) : 0;

    for (uint32_t i = 0; device->capture && i < n; i++)
        sw_port_capture_frame(device->capture, SW_SENT, realtime_ns, burst[i]->buffer + burst[i]->head, burst[i]->len);
}

/* Hands frames to the device until it refuses one; returns how many it took. */
static uint32_t send_run(struct sw_process *process, struct sw_process_device *device, struct sw_packet **frames,
                         uint32_t n, int64_t now_ns, int *error)
{
    uint32_t sent = device->ops->send(device->state, frames, n, error);

    capture_sent(device, frames, sent);
    for (uint32_t i = 0; i < sent; i++)
        measure_departure(process, device, frames[i],
                          (struct sw_departed){.due_ns = sw_frame_of(frames[i])->time_ns, .sent_ns = now_ns});
    return sent;
}

/* Whether the kernel refused a frame for what it is, so that the next one may leave. */
static bool is_own_fault(int error)
{
    return error == EMSGSIZE || error == EINVAL;
}

static void send_burst(struct sw_process *process, struct sw_process_device *device, struct sw_packet **burst,
                       uint32_t n, int64_t now_ns)
{
    int error = 0;

    for (uint32_t done = 0; done < n;) {
        if (!error || is_own_fault(error))
            done += send_run(process, device, burst + done, n - done, now_ns, &error);
        if (done == n)
            break;
        if (error == EMSGSIZE)
            sw_notice_once(device, SW_NOTICE_OVER_MTU,
                           "cannot send a frame of %" PRIu32 " B: the MTU of %" PRIu32 " B is too small (transmit); "
                           "ip link set %s mtu N",
                           burst[done]->len, device->mtu_bytes, device->name);
        sw_switch_count_drop(process->sw, device->port, SW_DROP_TRANSMIT);
        done++;
    }
    for (uint32_t i = 0; i < n; i++)
        sw_switch_release(process->sw, burst[i]);
    process->is_busy = true;
}

/* Sends the departures of a device that are due by `until_ns`. */
static void send_due(struct sw_process *process, uint32_t index, int64_t until_ns, int64_t now_ns)
{
    struct sw_process_device *device = &process->devices[index];
    struct sw_packet *burst[SW_BURST];
    uint32_t n = 0;

    while (n < SW_BURST && device->held.head && device->held.head->time_ns <= until_ns)
        burst[n++] = &sw_frame_list_pop(&device->held)->packet;
    sw_index_heap_set(&process->held_due, index, device->held.head ? device->held.head->time_ns : SW_NEVER);
    send_burst(process, device, burst, n, now_ns);
}

static void send_all_due(struct sw_process *process)
{
    int64_t now_ns = sw_read_clock(CLOCK_MONOTONIC), early_ns = process->options->window_ns / 2;

    while (sw_index_heap_next_ns(&process->held_due) <= now_ns + early_ns) {
        send_due(process, sw_index_heap_first(&process->held_due), now_ns + early_ns, now_ns);
        now_ns = sw_read_clock(CLOCK_MONOTONIC);
    }
}

static void print_link(const struct sw_process *process, uint32_t port, const char *interface)
{
    uint32_t depth = sw_switch_depth(process->sw, port);

    printf("port %" PRIu32 " (%s): %" PRIu64 " bits/s, %" PRId64 " ns of delay, ", port, interface,
           sw_switch_rate_bps(process->sw, port), sw_switch_delay_ns(process->sw, port));
    if (depth < UINT32_MAX)
        printf("%" PRIu32 " packets a queue, ", depth);
    puts("from tc");
}

void sw_process_follow_links(struct sw_process *process)
{
    for (uint32_t i = 0; i < process->n_devices; i++) {
        const struct sw_process_device *device = &process->devices[i];
        struct sw_link_shape shape;

        if (device->interface && sw_link_shape_read(device->interface, &shape) == 0 &&
            sw_switch_follow_link(process->sw, device->port, &shape))
            print_link(process, device->port, device->name);
    }
    fflush(stdout);
}

void sw_process_do_chores(struct sw_process *process)
{
    const struct sw_telemetry_record *records;
    size_t count = sw_switch_telemetry(process->sw, &records);
    int64_t shortest_ns = SLACK_SHARE * MOST_SLACK_NS;

    if (process->writer && count)
        sw_writer_append(process->writer, records, count * sizeof(*records));
    for (uint32_t i = 0; i < process->n_devices; i++) {
        struct sw_process_device *device = &process->devices[i];
        int64_t delay_ns = sw_switch_delay_ns(process->sw, device->port);
        uint64_t drops = device->ops->kernel_drops(device->state);

        sw_switch_count_kernel_drops(process->sw, device->port, drops);
        if (drops)
            sw_notice_once(device, SW_NOTICE_KERNEL_DROPS,
                           "frames arrive faster than the switch reads them; the kernel drops them (kernel_drops)");
        shortest_ns = delay_ns < shortest_ns ? delay_ns : shortest_ns;
    }
    process->slack_ns = shortest_ns / SLACK_SHARE;
    if (process->links_changed) {
        process->links_changed = false; /* tc needs several commands for a link; so the links are read in a chore */
        sw_process_follow_links(process);
    }
}

/* The next time at which the process must wake: a departure, an event of the core (which may wait a little) or periodic
 * work. */
static int64_t next_deadline_ns(const struct sw_process *process)
{
    int64_t due_ns = sw_index_heap_next_ns(&process->held_due);
    int64_t core_ns = sw_switch_next_ns(process->sw), late_ns = process->options->window_ns / 2;

    if (due_ns < SW_NEVER - late_ns)
        due_ns += late_ns;
    if (core_ns < SW_NEVER - process->slack_ns)
        core_ns += process->slack_ns;
    if (core_ns < due_ns)
        due_ns = core_ns;
    return due_ns < process->next_chore_ns ? due_ns : process->next_chore_ns;
}

static struct timespec to_timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
}

/* Sleeps until there is work. */
static void wait_for_work(struct sw_process *process)
{
    int64_t now_ns = sw_read_clock(CLOCK_MONOTONIC);
    int64_t deadline_ns = next_deadline_ns(process);
    struct epoll_event ignored;
    struct timespec time;

    if (process->has_waiting || deadline_ns <= now_ns)
        return;
    if (process->is_busy && process->slack_ns) {
        if (deadline_ns > now_ns + process->slack_ns)
            deadline_ns = now_ns + process->slack_ns;
        time = to_timespec(deadline_ns);
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
        return;
    }
    time = to_timespec(deadline_ns - now_ns);
    /* The descriptors are level-triggered, so the round will see the same events again. */
    syscall(SYS_epoll_pwait2, process->epoll_fd, &ignored, 1, &time, NULL, (size_t)0);
}

static void read_signals(struct sw_process *process)
{
    struct signalfd_siginfo info;

    while (read(process->signal_fd, &info, sizeof(info)) == sizeof(info))
        process->stops = true;
}

/* Runs one round as described at the top of the file. Control commands run last, between two instants of the core. */
static void run_round(struct sw_process *process)
{
    struct epoll_event events[MOST_EVENTS];
    int64_t horizon_ns = sw_read_clock(CLOCK_MONOTONIC);
    int n = epoll_wait(process->epoll_fd, events, MOST_EVENTS, 0);

    process->is_busy = process->has_waiting = false;
    for (int i = 0; i < n; i++) {
        uint32_t kind = (uint32_t)(events[i].data.u64 >> 32), which = (uint32_t)events[i].data.u64;
        int64_t limit_ns;

        if (kind != SW_EVENT_DEVICE)
            continue;
        limit_ns = sw_reception_turn(process, &process->devices[which]);
        horizon_ns = limit_ns < horizon_ns ? limit_ns : horizon_ns;
    }
    process->has_waiting |= !sw_switch_advance_some(process->sw, horizon_ns);
    send_all_due(process);
    if (horizon_ns >= process->next_chore_ns) {
        sw_process_do_chores(process);
        process->next_chore_ns = horizon_ns + CHORE_INTERVAL_NS;
    }
    for (int i = 0; i < n; i++) {
        uint32_t kind = (uint32_t)(events[i].data.u64 >> 32), which = (uint32_t)events[i].data.u64;

        if (kind == SW_EVENT_SIGNAL)
            read_signals(process);
        if (kind == SW_EVENT_LINKS)
            sw_interfaces_follow(process);
        if (kind != SW_EVENT_CONTROL)
            continue;
        sw_process_do_chores(process);
        sw_control_server_handle(process->control, which, events[i].events);
        sw_process_do_chores(process);
    }
}

void sw_process_run(struct sw_process *process)
{
    while (!process->stops) {
        run_round(process);
        if (SW_LOGS)
            fflush(stdout);
        wait_for_work(process);
    }
}
