/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#define _GNU_SOURCE
#include "process/reception.h"

#include "process/notices.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)
#define MOST_BURSTS 4u        /* of a turn */
#define MOST_BURSTS_BEHIND 1u /* of a turn of a device that is behind */
#define MOST_LAG_NS INT64_C(1000000)

/* The offset between the two clocks: real time minus monotonic time. */
struct clock_offset {
    int64_t ns;
    int64_t monotonic_ns;
};

int64_t sw_read_clock(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return time.tv_sec * NS_PER_S + time.tv_nsec;
}

/* Reads both clocks, keeping the closest pair of three tries: frame timestamps are in real time, the schedule is in
 * monotonic time. */
static struct clock_offset measure_offset(void)
{
    struct clock_offset best = {0};
    int64_t closest_ns = INT64_MAX;

    for (int i = 0; i < 3 && closest_ns > 1000; i++) {
        int64_t before_ns = sw_read_clock(CLOCK_MONOTONIC);
        int64_t real_ns = sw_read_clock(CLOCK_REALTIME);
        int64_t after_ns = sw_read_clock(CLOCK_MONOTONIC);

        if (after_ns - before_ns < closest_ns) {
            closest_ns = after_ns - before_ns;
            best.ns = real_ns - (before_ns + closest_ns / 2);
        }
        best.monotonic_ns = after_ns;
    }
    return best;
}

/* Gives one whole frame to the core, which takes ownership of it. */
static void admit(struct sw_process *process, struct sw_process_device *device, struct sw_packet *packet,
                  const struct sw_receive_slot *slot, struct clock_offset offset)
{
    int64_t time_ns = slot->realtime_ns ? slot->realtime_ns - offset.ns : offset.monotonic_ns;

    if (device->capture && packet->len)
        sw_port_capture_frame(device->capture, SW_RECEIVED,
                              slot->realtime_ns ? slot->realtime_ns : offset.monotonic_ns + offset.ns,
                              packet->buffer + packet->head, packet->len);
    if (time_ns > offset.monotonic_ns)
        time_ns = offset.monotonic_ns;
    if (time_ns < device->last_ns)
        time_ns = device->last_ns;
    device->last_ns = time_ns;
    sw_lateness_record(sw_switch_ingress_lateness(process->sw), offset.monotonic_ns - time_ns);
    sw_switch_receive_packet(process->sw, device->port, packet, time_ns);
}

/* Moves a frame that is longer than its packet into a packet of its length. An empty frame, which the core counts as
 * bad_length, takes the place of a frame that no packet can hold. */
static struct sw_packet *gather(struct sw_process *process, struct sw_process_device *device,
                                const struct sw_receive_slot *slot)
{
    struct sw_packet *whole = NULL;

    if (slot->length <= SW_FRAME_MAX_BYTES)
        whole = sw_switch_acquire(process->sw, slot->length);
    if (!whole) {
        sw_notice_once(device, SW_NOTICE_TOO_LONG, "cannot receive a frame of %" PRIu32 " B, at most %u B (bad_length)",
                       slot->length, SW_FRAME_MAX_BYTES);
        slot->packet->len = 0;
        return slot->packet;
    }
    memcpy(whole->buffer + whole->head, slot->packet->buffer + slot->packet->head, slot->stored);
    memcpy(whole->buffer + whole->head + slot->stored, slot->rest, slot->length - slot->stored);
    sw_switch_release(process->sw, slot->packet);
    return whole;
}

/* Cuts a frame into the segments that a network card would have sent. */
static void admit_segments(struct sw_process *process, struct sw_process_device *device, struct sw_packet *packet,
                           const struct sw_receive_slot *slot, struct clock_offset offset)
{
    struct sw_segments segments;
    uint32_t bytes;

    if (!sw_segments_begin(&segments, packet->buffer + packet->head, packet->len, slot->offload)) {
        sw_notice_once(
            device, SW_NOTICE_MERGED,
            "cannot cut a frame of %" PRIu32 " B that the kernel has merged, which is neither TCP nor UDP "
            "(bad_length); turn off tso, gso and gro of its sender: ethtool -K IFACE tso off gso off gro off",
            packet->len);
        packet->len = 0;
        admit(process, device, packet, slot, offset);
        return;
    }
    while ((bytes = sw_segments_next_bytes(&segments)) > 0) {
        struct sw_packet *segment = sw_switch_acquire(process->sw, bytes);

        if (!segment) {
            sw_switch_count_drop(process->sw, device->port, SW_DROP_MEMORY);
            break;
        }
        sw_segments_take(&segments, segment->buffer + segment->head);
        admit(process, device, segment, slot, offset);
    }
    sw_switch_release(process->sw, packet);
}

/* Gives a received frame to the core; the slot stays empty until the next burst. */
static void take_frame(struct sw_process *process, struct sw_process_device *device, struct sw_receive_slot *slot,
                       struct clock_offset offset)
{
    struct sw_packet *packet = slot->packet;

    if (slot->length > slot->stored)
        packet = gather(process, device, slot);
    else
        packet->len = slot->length;
    slot->packet = NULL;
    if (packet->len && slot->offload.kind != SW_SEGMENTS_NONE) {
        admit_segments(process, device, packet, slot, offset);
        return;
    }
    if (packet->len && slot->offload.needs_checksum)
        sw_offload_checksum(&slot->offload, packet->buffer + packet->head, packet->len);
    admit(process, device, packet, slot, offset);
}

static uint32_t fill_slots(struct sw_process *process)
{
    uint32_t ready = 0;

    for (; ready < SW_BURST; ready++) {
        struct sw_receive_slot *slot = &process->slots[ready];

        if (!slot->packet)
            slot->packet = sw_switch_acquire(process->sw, process->frame_bytes);
        if (!slot->packet)
            break;
    }
    return ready;
}

int64_t sw_reception_turn(struct sw_process *process, struct sw_process_device *device)
{
    uint32_t bursts = device->is_behind ? MOST_BURSTS_BEHIND : MOST_BURSTS;
    struct clock_offset offset;

    for (uint32_t burst = 0; burst < bursts; burst++) {
        uint32_t room = fill_slots(process);
        uint32_t received = device->ops->receive(device->state, process->slots, room);

        offset = measure_offset();
        for (uint32_t i = 0; i < received; i++)
            take_frame(process, device, &process->slots[i], offset);
        process->is_busy |= received > 0;
        if (received < room || !room) {
            device->is_behind = false;
            return SW_NEVER;
        }
    }
    process->has_waiting = true;
    device->is_behind = offset.monotonic_ns - device->last_ns > MOST_LAG_NS;
    return device->is_behind ? SW_NEVER : device->last_ns;
}
