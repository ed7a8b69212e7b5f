/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Queue depths over time. Depth is bytes enqueued and not yet started on the wire, as it stands when all events of an
 * instant are done: a packet that finds its wire idle never shows. Interval k is [epoch + k * sample, epoch + (k + 1) *
 * sample); its rows are stamped with its end, carry the depth just before the end and the highest depth inside (with
 * what it began with), and stand for (port, class) pairs whose highest depth is above 0, then one row (-1, -1) for the
 * whole switch: the sum over ports with a device, taken as a whole and so not the sum of the rows. Ports without a
 * device (recirculation) are left out: nothing waits there.
 */
#ifndef SW_TELEMETRY_H
#define SW_TELEMETRY_H

#include "traffic/traffic_manager.h"

struct sw_telemetry_record {
    int64_t time_ns; /* since the epoch */
    int32_t port;
    int32_t class_;
    uint64_t depth_bytes;
    uint64_t high_water_bytes;
} __attribute__((packed));

_Static_assert(sizeof(struct sw_telemetry_record) == 32, "file format, read by softswitch/engine.py");

struct sw_telemetry {
    int64_t epoch_ns;
    int64_t sample_ns; /* 0: off */
    int64_t next_ns;   /* end of the running interval */
    uint16_t touched[SW_PORT_COUNT];
    uint32_t n_touched;
    bool is_touched[SW_PORT_COUNT];
    uint64_t high_ports[SW_PORT_COUNT / 64]; /* ports that hold a queue with a high-water mark above 0 */
    struct sw_telemetry_record *records;
    size_t count, capacity;
    uint64_t lost; /* records that found no memory */
};

void sw_telemetry_init(struct sw_telemetry *telemetry, int64_t epoch_ns, int64_t sample_ns);
void sw_telemetry_free(struct sw_telemetry *telemetry);

/* A queue of the port changed at the present instant. */
static inline void sw_telemetry_touch(struct sw_telemetry *telemetry, uint32_t port)
{
    if (telemetry->sample_ns && !telemetry->is_touched[port]) {
        telemetry->is_touched[port] = true;
        telemetry->touched[telemetry->n_touched++] = (uint16_t)port;
    }
}

/* Time moves on to `now_ns`: settles the instant that ends and writes the rows of all intervals that end by then. */
void sw_telemetry_advance(struct sw_telemetry *telemetry, struct sw_traffic_manager *tm, int64_t now_ns);

#endif /* SW_TELEMETRY_H */
