/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "traffic/telemetry.h"

#include <stdlib.h>
#include <string.h>

void sw_telemetry_init(struct sw_telemetry *telemetry, int64_t epoch_ns, int64_t sample_ns, int64_t link_sample_ns)
{
    memset(telemetry, 0, sizeof(*telemetry));
    telemetry->epoch_ns = epoch_ns;
    telemetry->sample_ns = sample_ns;
    telemetry->link_sample_ns = sample_ns ? link_sample_ns : 0;
    telemetry->next_ns = sample_ns ? epoch_ns : SW_NEVER;
}

void sw_telemetry_free(struct sw_telemetry *telemetry)
{
    free(telemetry->records);
    telemetry->records = NULL;
}

static void add(struct sw_telemetry *telemetry, const struct sw_telemetry_record *record)
{
    if (telemetry->count == telemetry->capacity) {
        size_t capacity = telemetry->capacity ? 2 * telemetry->capacity : 1024;
        struct sw_telemetry_record *records = realloc(telemetry->records, capacity * sizeof(*records));

        if (!records) {
            telemetry->lost++;
            return;
        }
        telemetry->records = records;
        telemetry->capacity = capacity;
    }
    telemetry->records[telemetry->count++] = *record;
}

/* Updates the high-water marks with the depths at the end of the instant. */
static void settle(struct sw_telemetry *telemetry, struct sw_traffic_manager *tm)
{
    for (uint32_t i = 0; i < telemetry->n_touched; i++) {
        uint32_t port = telemetry->touched[i];
        struct sw_port *p = &tm->ports[port];

        telemetry->is_touched[port] = false;
        if (!p->waiting || !p->has_device)
            continue;
        for (uint32_t waiting = p->waiting; waiting; waiting &= waiting - 1) {
            struct sw_queue *queue = &p->queues[__builtin_ctz(waiting)];

            if (queue->bytes > queue->high_bytes)
                queue->high_bytes = queue->bytes;
            if (queue->round)
                sw_round_settle(queue->round);
        }
        telemetry->high_ports[port / 64] |= UINT64_C(1) << (port % 64);
    }
    telemetry->n_touched = 0;
    if (tm->bytes > tm->high_bytes)
        tm->high_bytes = tm->bytes;
}

/* Writes the rows of the queues of a class and starts their next interval. */
static void sample_round(struct sw_telemetry *telemetry, struct sw_round *round, uint32_t port, uint32_t class_,
                         bool write)
{
    for (uint32_t i = 0; i < round->count; i++) {
        struct sw_round_queue *queue = &round->queues[i];

        if (queue->high_bytes && write)
            add(telemetry, &(struct sw_telemetry_record){.time_ns = telemetry->next_ns - telemetry->epoch_ns,
                                                         .port = (int32_t)port,
                                                         .class_ = (int16_t)class_,
                                                         .part = (int16_t)(i + 1),
                                                         .depth_bytes = queue->bytes,
                                                         .high_water_bytes = queue->high_bytes});
        queue->high_bytes = queue->bytes;
    }
}

/* Writes a port's rows and starts its next interval; true while one of its queues still holds bytes. */
static bool sample_port(struct sw_telemetry *telemetry, struct sw_port *p, uint32_t port, bool write)
{
    bool holds = false;

    for (uint32_t class_ = 0; class_ < SW_CLASS_COUNT; class_++) {
        struct sw_queue *queue = &p->queues[class_];

        if (queue->high_bytes && write)
            add(telemetry, &(struct sw_telemetry_record){.time_ns = telemetry->next_ns - telemetry->epoch_ns,
                                                         .port = (int32_t)port,
                                                         .class_ = (int16_t)class_,
                                                         .depth_bytes = queue->bytes,
                                                         .high_water_bytes = queue->high_bytes});
        if (queue->round)
            sample_round(telemetry, queue->round, port, class_, write);
        queue->high_bytes = queue->bytes;
        holds |= queue->bytes != 0;
    }
    return holds;
}

/* Writes the rows of the links that carried a frame and starts their next interval. */
static void sample_links(struct sw_telemetry *telemetry, int64_t time_ns, bool write)
{
    for (uint32_t word = 0; word < SW_PORT_COUNT / 64; word++) {
        for (uint64_t bits = telemetry->used_ports[word]; bits; bits &= bits - 1) {
            uint32_t port = word * 64 + (uint32_t)__builtin_ctzll(bits);

            if (write)
                add(telemetry, &(struct sw_telemetry_record){.time_ns = time_ns,
                                                             .port = (int32_t)port,
                                                             .class_ = -1,
                                                             .part = -1,
                                                             .depth_bytes = telemetry->links[port].received,
                                                             .high_water_bytes = telemetry->links[port].sent});
            if (write && telemetry->links[port].lost)
                add(telemetry, &(struct sw_telemetry_record){.time_ns = time_ns,
                                                             .port = (int32_t)port,
                                                             .class_ = -1,
                                                             .part = -2,
                                                             .depth_bytes = telemetry->links[port].lost});
            telemetry->links[port] = (struct sw_link_bytes){0};
        }
        telemetry->used_ports[word] = 0;
    }
}

void sw_telemetry_end_links(struct sw_telemetry *telemetry)
{
    int64_t since_ns = telemetry->next_ns - telemetry->sample_ns - telemetry->epoch_ns;
    int64_t links_ns = telemetry->link_sample_ns;

    if (links_ns && since_ns >= 0)
        sample_links(telemetry, (since_ns / links_ns + 1) * links_ns, true);
}

static void sample(struct sw_telemetry *telemetry, struct sw_traffic_manager *tm)
{
    bool write = telemetry->next_ns > telemetry->epoch_ns;

    for (uint32_t word = 0; word < SW_PORT_COUNT / 64; word++) {
        for (uint64_t bits = telemetry->high_ports[word]; bits; bits &= bits - 1) {
            uint32_t port = word * 64 + (uint32_t)__builtin_ctzll(bits);

            if (!sample_port(telemetry, &tm->ports[port], port, write))
                telemetry->high_ports[word] &= ~(bits & -bits);
        }
    }
    if (write)
        add(telemetry, &(struct sw_telemetry_record){.time_ns = telemetry->next_ns - telemetry->epoch_ns,
                                                     .port = -1,
                                                     .class_ = -1,
                                                     .part = -1,
                                                     .depth_bytes = tm->bytes,
                                                     .high_water_bytes = tm->high_bytes});
    tm->high_bytes = tm->bytes;
    if (telemetry->link_sample_ns && (telemetry->next_ns - telemetry->epoch_ns) % telemetry->link_sample_ns == 0)
        sample_links(telemetry, telemetry->next_ns - telemetry->epoch_ns, write);
}

void sw_telemetry_finish(struct sw_telemetry *telemetry, struct sw_traffic_manager *tm, int64_t now_ns)
{
    settle(telemetry, tm);
    while (telemetry->next_ns <= now_ns) {
        sample(telemetry, tm);
        telemetry->next_ns += telemetry->sample_ns;
    }
}
