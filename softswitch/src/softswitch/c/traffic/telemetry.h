/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Queue depths over time. The depth is the bytes enqueued and not yet started on the wire, taken after all events of an
 * instant: a packet that finds its wire idle does not appear. Interval k is [epoch + k * sample, epoch + (k + 1) *
 * sample). Its rows have the time of its end, the depth just before the end and the highest depth during the interval,
 * including the depth at its start. There is a row for each (port, class) whose highest depth is above 0, and then a
 * row
 * (-1, -1) for the whole switch. That row holds the highest total over all ports with a device, which is not the sum of
 * the other rows. Ports without a device (recirculation) are left out because no packet waits there. If a class has
 * several queues, each that held packets has a row as well, after the row of its class.
 *
 * Bytes of links over time. After the rows of every interval that ends at a multiple of the links' interval there is a
 * row (port, -1) for each port that sent or received a frame since the multiple before. A frame counts when its
 * transmission begins, or when it arrives. The bytes are those of tx_bytes and rx_bytes, except for frames that the
 * link loses (because it is down or impaired): they were sent, but not received. A port with lost frames has a second
 * row, whose part is -2. Frames count as lost where the link drops them, at the sending or at the receiving port.
 */
#ifndef SW_TELEMETRY_H
#define SW_TELEMETRY_H

#include "traffic/traffic_manager.h"

struct sw_telemetry_record {
    int64_t time_ns; /* since the epoch */
    int32_t port;
    int16_t class_;
    int16_t part;              /* 0: the whole class; n: its queue n - 1; -1 in the rows of the switch and of links */
    uint64_t depth_bytes;      /* in the row of a link: bytes received; in its row of part -2: bytes lost */
    uint64_t high_water_bytes; /* in the row of a link: bytes sent */
} __attribute__((packed));

_Static_assert(sizeof(struct sw_telemetry_record) == 32, "file format, read by softswitch/engine.py");

struct sw_link_bytes {
    uint64_t received, sent, lost;
};

struct sw_telemetry {
    int64_t epoch_ns;
    int64_t sample_ns;      /* 0: off */
    int64_t link_sample_ns; /* a multiple of sample_ns; 0: no rows of links */
    int64_t next_ns;        /* end of the running interval */
    uint16_t touched[SW_PORT_COUNT];
    uint32_t n_touched;
    bool is_touched[SW_PORT_COUNT];
    uint64_t high_ports[SW_PORT_COUNT / 64]; /* ports that hold a queue with a high-water mark above 0 */
    uint64_t used_ports[SW_PORT_COUNT / 64]; /* ports whose link carried a frame in the links' interval */
    struct sw_link_bytes links[SW_PORT_COUNT];
    struct sw_telemetry_record *records;
    size_t count, capacity;
    uint64_t lost; /* records lost for lack of memory */
};

void sw_telemetry_init(struct sw_telemetry *telemetry, int64_t epoch_ns, int64_t sample_ns, int64_t link_sample_ns);
void sw_telemetry_free(struct sw_telemetry *telemetry);

/* Notes that a queue of the port grew at the present instant. */
static inline void sw_telemetry_touch(struct sw_telemetry *telemetry, uint32_t port)
{
    if (telemetry->sample_ns && !telemetry->is_touched[port]) {
        telemetry->is_touched[port] = true;
        telemetry->touched[telemetry->n_touched++] = (uint16_t)port;
    }
}

/* Counts bytes that the port sends or receives at the present instant. */
static inline void sw_telemetry_count(struct sw_telemetry *telemetry, uint32_t port, uint64_t received, uint64_t sent)
{
    if (telemetry->link_sample_ns) {
        telemetry->links[port].received += received;
        telemetry->links[port].sent += sent;
        telemetry->used_ports[port / 64] |= UINT64_C(1) << (port % 64);
    }
}

/* Counts bytes of the port's link that are lost at the present instant. */
static inline void sw_telemetry_lose(struct sw_telemetry *telemetry, uint32_t port, uint64_t bytes)
{
    sw_telemetry_count(telemetry, port, 0, 0);
    telemetry->links[port].lost += bytes;
}

/* Writes the links' rows of the running interval, with the time of its end, once no more frame will come. */
void sw_telemetry_end_links(struct sw_telemetry *telemetry);

/* Advances to `now_ns`: finishes the current instant and writes the rows of all intervals that end by then. */
void sw_telemetry_finish(struct sw_telemetry *telemetry, struct sw_traffic_manager *tm, int64_t now_ns);

/* The same, at no cost if no queue has changed and no interval ends. */
static inline void sw_telemetry_advance(struct sw_telemetry *telemetry, struct sw_traffic_manager *tm, int64_t now_ns)
{
    if (telemetry->n_touched || telemetry->next_ns <= now_ns)
        sw_telemetry_finish(telemetry, tm, now_ns);
}

#endif /* SW_TELEMETRY_H */
