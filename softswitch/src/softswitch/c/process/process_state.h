/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The state of a switch's process, shared by process.c (opening and closing) and process_loop.c (the event loop).
 */
#ifndef SW_PROCESS_STATE_H
#define SW_PROCESS_STATE_H

#include "common/index_heap.h"
#include "ports/ports.h"
#include "process/control_server.h"
#include "process/late_bins.h"
#include "process/log_lines.h"
#include "process/port_capture.h"
#include "process/process.h"
#include "process/telemetry_writer.h"
#include "traffic/packet_pool.h"

#include <net/if.h>

/* The upper half of an epoll event's data. */
enum sw_event_kind {
    SW_EVENT_DEVICE, /* lower half: index into devices */
    SW_EVENT_SIGNAL,
    SW_EVENT_CONTROL, /* lower half: control_server.h */
    SW_EVENT_LINKS,
};

struct sw_process_device {
    const struct sw_device_ops *ops;
    void *state;
    uint32_t port;
    const char *address;    /* without its scheme */
    unsigned interface;     /* its index; 0: not an interface, or the interface is gone */
    char name[IF_NAMESIZE]; /* of the interface now */
    uint32_t mtu_bytes;
    bool is_up;
    bool has_lost_link; /* since the start, until it is up again */
    bool is_behind;     /* frames have waited too long, see reception.h */
    unsigned noticed;   /* enum sw_notice */
    int64_t last_ns;    /* receive time of the last frame; keeps the kernel's order */
    struct sw_departed departed;
    struct sw_frame_list held;       /* departures not yet due, in order of time */
    struct sw_port_capture *capture; /* NULL: no capture */
};

struct sw_process {
    const struct sw_process_options *options;
    struct sw_switch *sw;
    struct sw_process_device *devices;
    uint32_t n_devices;
    uint32_t device_of_port[SW_PORT_COUNT];
    struct sw_index_heap held_due; /* by device: due time of the next departure */
    struct sw_receive_slot slots[SW_BURST];
    uint8_t *rests;       /* the memory of the slots for longer frames */
    uint32_t frame_bytes; /* size of a slot: the largest MTU plus an Ethernet header and two VLAN tags */
    int epoll_fd, signal_fd;
    int link_fd; /* readable when an interface or its link may have changed, see interfaces.h; -1: no interface */
    bool links_changed;
    struct sw_control_server *control;
    struct sw_writer *writer;
    struct sw_late_bins late_bins;
    struct sw_log_lines log_lines;
    int64_t slack_ns; /* how long the next core event may wait to share a wake-up, see process_loop.c */
    int64_t next_chore_ns;
    bool is_busy;     /* the last round moved frames */
    bool has_waiting; /* the last round left frames in the kernel */
    bool stops;
};

/* Gives the ports the rate and delay that `tc` gives their interfaces; prints a line for each change. */
void sw_process_follow_links(struct sw_process *process);

/* Passes finished telemetry to the writer, and adds the kernel's drop counts to the statistics. */
void sw_process_do_chores(struct sw_process *process);

#endif /* SW_PROCESS_STATE_H */
