/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "switch/fabric.h"

#include "switch/switch_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The far end of a port's link; index -1 for an edge port. */
struct link_end {
    int32_t index;
    uint32_t port;
    struct sw_outbox *outgoing; /* of the fabric that has the far end; NULL for this fabric */
};

struct member {
    struct sw_fabric *fabric;
    struct sw_switch *sw;
    uint32_t index;
    struct link_end ends[SW_PORT_COUNT];
    bool is_watched[SW_PORT_COUNT];
};

/* The times of a switch's next events; SW_NEVER without one. They are copies, because a switch is large and a fabric
 * looks at all times before each window. */
struct times {
    int64_t next_ns;    /* any event */
    int64_t planned_ns; /* a planned command, which may change delays */
};

struct sw_fabric {
    struct member **members;
    struct times *times;
    uint32_t n_members, capacity;
    int64_t shortest_delay_ns; /* of all links between switches; SW_NEVER without links, negative if not known */
    uint8_t *block;
    uint32_t block_bytes;
    struct sw_outbox outbox;
    struct sw_outbox seen[2];    /* at watched ports: frames that arrived, frames that left */
    struct sw_outbox departures; /* of every port, without the frames' bytes */
    struct sw_outbox **outgoing; /* by peer; NULL if no port leads there */
    uint32_t n_outgoing;
    bool logs_departures;
    int64_t horizon_ns; /* the time up to which events have been run */
    int64_t ahead_ns;   /* the first event that has been run ahead of the horizon; SW_NEVER without one */
};

struct sw_fabric *sw_fabric_create(void)
{
    struct sw_fabric *fabric = calloc(1, sizeof(*fabric));

    if (fabric) {
        fabric->horizon_ns = INT64_MIN;
        fabric->ahead_ns = SW_NEVER;
    }
    return fabric;
}

void sw_fabric_destroy(struct sw_fabric *fabric)
{
    if (!fabric)
        return;
    for (uint32_t i = 0; i < fabric->n_members; i++) {
        sw_switch_set_output(fabric->members[i]->sw, NULL, NULL);
        free(fabric->members[i]);
    }
    free(fabric->members);
    free(fabric->times);
    free(fabric->block);
    sw_outbox_free(&fabric->outbox);
    sw_outbox_free(&fabric->seen[false]);
    sw_outbox_free(&fabric->seen[true]);
    sw_outbox_free(&fabric->departures);
    for (uint32_t peer = 0; peer < fabric->n_outgoing; peer++) {
        if (fabric->outgoing[peer])
            sw_outbox_free(fabric->outgoing[peer]);
        free(fabric->outgoing[peer]);
    }
    free(fabric->outgoing);
    free(fabric);
}

uint64_t sw_switch_layout(void)
{
    return (uint64_t)SW_PROGRAM_ABI << 48 | (uint64_t)sizeof(struct sw_switch) << 16 | sizeof(struct sw_frame);
}

static void plan(struct sw_fabric *fabric, uint32_t index)
{
    const struct sw_switch *sw = fabric->members[index]->sw;

    fabric->times[index] = (struct times){sw_switch_next_ns(sw), sw_schedule_next_ns(&sw->schedule)};
}

/* Notes that a switch may have got a frame, before which it had no arrival at that time. */
static void expect_arrival(struct sw_fabric *fabric, uint32_t index)
{
    int64_t arrival_ns = sw_arrivals_next_ns(&fabric->members[index]->sw->arrivals);

    if (arrival_ns < fabric->times[index].next_ns)
        fabric->times[index].next_ns = arrival_ns;
}

/* Copies a frame at a watched port. */
static void see(const struct member *member, uint32_t port, bool leaves, int64_t time_ns, const uint8_t *bytes,
                uint32_t len, struct sw_tail tail)
{
    if (member->is_watched[port])
        sw_outbox_add(&member->fabric->seen[leaves], (int32_t)member->index, (int32_t)port, time_ns, bytes, len, tail);
}

/* Receives the departures of every member: forwards them across the link, or stores them for the caller at the edge. */
static void depart(void *ctx, uint32_t port, int64_t due_ns, struct sw_packet *packet)
{
    struct member *member = ctx;
    struct sw_fabric *fabric = member->fabric;
    struct link_end end = member->ends[port];
    const uint8_t *bytes = packet->buffer + packet->head;

    see(member, port, true, due_ns, bytes, packet->len, packet->tail);
    if (fabric->logs_departures)
        sw_outbox_add(&fabric->departures, (int32_t)member->index, (int32_t)port, due_ns, bytes, 0, packet->tail);
    if (end.outgoing) {
        sw_outbox_add(end.outgoing, end.index, (int32_t)end.port, due_ns, bytes, packet->len, packet->tail);
        sw_switch_release(member->sw, packet);
        return;
    }
    if (end.index >= 0) {
        see(fabric->members[end.index], end.port, false, due_ns, bytes, packet->len, packet->tail);
        sw_switch_receive_from(fabric->members[end.index]->sw, end.port, member->sw, packet, due_ns);
        expect_arrival(fabric, (uint32_t)end.index);
        return;
    }
    sw_outbox_add(&fabric->outbox, (int32_t)member->index, (int32_t)port, due_ns, bytes, packet->len, packet->tail);
    sw_switch_release(member->sw, packet);
}

/* Makes room for one more member. */
static int reserve(struct sw_fabric *fabric)
{
    uint32_t capacity = fabric->capacity ? 2 * fabric->capacity : 1;
    struct member **members;
    struct times *times;

    if (fabric->n_members < fabric->capacity)
        return 0;
    members = realloc(fabric->members, capacity * sizeof(*members));
    if (!members)
        return -ENOMEM;
    fabric->members = members;
    times = realloc(fabric->times, capacity * sizeof(*times));
    if (!times)
        return -ENOMEM;
    fabric->times = times;
    fabric->capacity = capacity;
    return 0;
}

int sw_fabric_add(struct sw_fabric *fabric, struct sw_switch *sw, uint64_t layout)
{
    struct member *member;

    if (layout != sw_switch_layout())
        return -EINVAL;
    if (reserve(fabric) < 0)
        return -ENOMEM;
    member = malloc(sizeof(*member));
    if (!member)
        return -ENOMEM;
    member->fabric = fabric;
    member->sw = sw;
    member->index = fabric->n_members++;
    for (uint32_t port = 0; port < SW_PORT_COUNT; port++)
        member->ends[port] = (struct link_end){.index = -1};
    memset(member->is_watched, 0, sizeof(member->is_watched));
    fabric->members[member->index] = member;
    sw_switch_share(sw, fabric->members[0]->sw);
    sw_switch_set_output(sw, depart, member);
    sw_switch_set_block(sw, fabric->block);
    plan(fabric, member->index);
    return (int)member->index;
}

int sw_fabric_connect(struct sw_fabric *fabric, uint32_t a, uint32_t port_a, uint32_t b, uint32_t port_b)
{
    struct link_end *end_a, *end_b;

    if (a >= fabric->n_members || b >= fabric->n_members || port_a >= SW_RECIRCULATION_PORT ||
        port_b >= SW_RECIRCULATION_PORT || (a == b && port_a == port_b))
        return -EINVAL;
    end_a = &fabric->members[a]->ends[port_a];
    end_b = &fabric->members[b]->ends[port_b];
    if (end_a->index >= 0 || end_b->index >= 0)
        return -EBUSY;
    *end_a = (struct link_end){.index = (int32_t)b, .port = port_b};
    *end_b = (struct link_end){.index = (int32_t)a, .port = port_a};
    fabric->shortest_delay_ns = -1;
    return 0;
}

int sw_fabric_set_block(struct sw_fabric *fabric, const uint8_t *block, uint32_t n_bytes)
{
    uint8_t *copy = malloc(n_bytes);

    if (!copy)
        return -ENOMEM;
    memcpy(copy, block, n_bytes);
    free(fabric->block);
    fabric->block = copy;
    fabric->block_bytes = n_bytes;
    for (uint32_t i = 0; i < fabric->n_members; i++)
        sw_switch_set_block(fabric->members[i]->sw, copy);
    return 0;
}

uint32_t sw_fabric_reach_bytes(const struct sw_fabric *fabric)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < fabric->n_members; i++) {
        uint32_t reach_bytes = fabric->members[i]->sw->target.program->reach_bytes;

        if (reach_bytes > most)
            most = reach_bytes;
    }
    return most;
}

/* Returns the outbox of a peer, which is created if it does not exist; NULL when out of memory. */
static struct sw_outbox *outgoing_to(struct sw_fabric *fabric, uint32_t peer)
{
    if (peer >= fabric->n_outgoing) {
        struct sw_outbox **outgoing = realloc(fabric->outgoing, (peer + 1) * sizeof(struct sw_outbox *));

        if (!outgoing)
            return NULL;
        memset(outgoing + fabric->n_outgoing, 0, (peer + 1 - fabric->n_outgoing) * sizeof(struct sw_outbox *));
        fabric->outgoing = outgoing;
        fabric->n_outgoing = peer + 1;
    }
    if (!fabric->outgoing[peer])
        fabric->outgoing[peer] = calloc(1, sizeof(struct sw_outbox));
    return fabric->outgoing[peer];
}

int sw_fabric_lead(struct sw_fabric *fabric, uint32_t index, uint32_t port, uint32_t peer, uint32_t far_index,
                   uint32_t far_port)
{
    struct sw_outbox *outgoing;

    if (index >= fabric->n_members || port >= SW_RECIRCULATION_PORT)
        return -EINVAL;
    if (fabric->members[index]->ends[port].index >= 0)
        return -EBUSY;
    outgoing = outgoing_to(fabric, peer);
    if (!outgoing)
        return -ENOMEM;
    fabric->members[index]->ends[port] =
        (struct link_end){.index = (int32_t)far_index, .port = far_port, .outgoing = outgoing};
    return 0;
}

const struct sw_outbox *sw_fabric_outgoing(const struct sw_fabric *fabric, uint32_t peer)
{
    return peer < fabric->n_outgoing ? fabric->outgoing[peer] : NULL;
}

void sw_fabric_forget_outgoing(struct sw_fabric *fabric)
{
    for (uint32_t peer = 0; peer < fabric->n_outgoing; peer++) {
        if (fabric->outgoing[peer])
            sw_outbox_clear(fabric->outgoing[peer]);
    }
}

int sw_fabric_watch(struct sw_fabric *fabric, uint32_t index, uint32_t port)
{
    if (index >= fabric->n_members || port >= SW_RECIRCULATION_PORT)
        return -EINVAL;
    fabric->members[index]->is_watched[port] = true;
    return 0;
}

const struct sw_outbox *sw_fabric_seen(const struct sw_fabric *fabric, bool leaves)
{
    return &fabric->seen[leaves];
}

void sw_fabric_forget_seen(struct sw_fabric *fabric)
{
    sw_outbox_clear(&fabric->seen[false]);
    sw_outbox_clear(&fabric->seen[true]);
}

void sw_fabric_log_departures(struct sw_fabric *fabric)
{
    fabric->logs_departures = true;
}

const struct sw_outbox *sw_fabric_departures(const struct sw_fabric *fabric)
{
    return &fabric->departures;
}

static int receive(struct sw_fabric *fabric, uint32_t index, uint32_t port, const uint8_t *bytes, uint32_t len,
                   struct sw_tail tail, int64_t time_ns)
{
    int refused;

    if (index >= fabric->n_members)
        return -EINVAL;
    if (port < SW_PORT_COUNT)
        see(fabric->members[index], port, false, time_ns, bytes, len, tail);
    refused = sw_switch_receive_tailed(fabric->members[index]->sw, port, bytes, len, tail, time_ns);
    expect_arrival(fabric, index);
    return refused;
}

int sw_fabric_receive(struct sw_fabric *fabric, uint32_t index, uint32_t port, const uint8_t *bytes, uint32_t len,
                      int64_t time_ns)
{
    return receive(fabric, index, port, bytes, len, (struct sw_tail){0}, time_ns);
}

static bool is_sound(const struct sw_fabric *fabric, uint32_t index, uint32_t port, uint64_t length,
                     struct sw_tail tail)
{
    return index < fabric->n_members && port < SW_RECIRCULATION_PORT && length <= SW_FRAME_MAX_BYTES &&
           length + tail.bytes <= SW_FRAME_MAX_BYTES && tail.after <= length &&
           (uint64_t)tail.start + tail.bytes <= fabric->block_bytes;
}

int sw_fabric_put(struct sw_fabric *fabric, const struct sw_entry *entries, uint64_t count, const uint8_t *bytes,
                  uint64_t n_bytes)
{
    uint64_t total = 0;

    for (uint64_t i = 0; i < count; i++) {
        if (!is_sound(fabric, entries[i].index, entries[i].port, (uint64_t)entries[i].length, entries[i].tail))
            return -EINVAL;
        total += (uint64_t)entries[i].length;
    }
    if (total != n_bytes)
        return -EINVAL;
    for (uint64_t i = 0; i < count; i++) {
        const struct sw_entry *entry = &entries[i];

        receive(fabric, entry->index, entry->port, bytes, (uint32_t)entry->length, entry->tail, entry->time_ns);
        bytes += entry->length;
    }
    return 0;
}

int sw_fabric_put_outgoing(struct sw_fabric *fabric, const struct sw_departure *frames, uint64_t count,
                           const uint8_t *bytes, uint64_t n_bytes)
{
    for (uint64_t i = 0; i < count; i++) {
        if (!is_sound(fabric, (uint32_t)frames[i].index, (uint32_t)frames[i].port, frames[i].length, frames[i].tail) ||
            (uint64_t)frames[i].offset + frames[i].length > n_bytes)
            return -EINVAL;
    }
    for (uint64_t i = 0; i < count; i++)
        receive(fabric, (uint32_t)frames[i].index, (uint32_t)frames[i].port, bytes + frames[i].offset, frames[i].length,
                frames[i].tail, frames[i].due_ns);
    return 0;
}

static int64_t next_event_ns(const struct sw_fabric *fabric)
{
    int64_t first_ns = SW_NEVER;

    for (uint32_t i = 0; i < fabric->n_members; i++) {
        if (fabric->times[i].next_ns < first_ns)
            first_ns = fabric->times[i].next_ns;
    }
    return first_ns;
}

static int64_t shortest_delay_ns(const struct sw_fabric *fabric)
{
    int64_t shortest_ns = SW_NEVER;

    for (uint32_t i = 0; i < fabric->n_members; i++) {
        for (uint32_t port = 0; port < SW_RECIRCULATION_PORT; port++) {
            int64_t delay_ns = sw_switch_delay_ns(fabric->members[i]->sw, port);

            if (fabric->members[i]->ends[port].index >= 0 && !fabric->members[i]->ends[port].outgoing &&
                delay_ns < shortest_ns)
                shortest_ns = delay_ns;
        }
    }
    return shortest_ns;
}

/*
 * The last instant, at most `until_ns`, up to which every switch can run by itself: before it no switch can get a frame
 * from another one, and no planned command runs that may shorten a delay. SW_NEVER if no event is due by `until_ns`.
 */
static int64_t window_end_ns(struct sw_fabric *fabric, int64_t until_ns)
{
    int64_t first_ns = next_event_ns(fabric), end_ns = until_ns;

    if (first_ns == SW_NEVER || first_ns > until_ns)
        return SW_NEVER;
    if (fabric->shortest_delay_ns < 0)
        fabric->shortest_delay_ns = shortest_delay_ns(fabric);
    if (fabric->shortest_delay_ns <= until_ns - first_ns)
        end_ns = first_ns + (fabric->shortest_delay_ns ? fabric->shortest_delay_ns - 1 : 0);
    for (uint32_t i = 0; i < fabric->n_members; i++) {
        if (fabric->times[i].planned_ns < end_ns)
            end_ns = fabric->times[i].planned_ns;
    }
    return end_ns;
}

/* Runs each switch through the window before the next one, so that its state stays in the caches. Without a delay
 * between switches a window is one instant, which ends after the first switch. */
static void run_window(struct sw_fabric *fabric, int64_t end_ns)
{
    for (uint32_t i = 0; i < fabric->n_members; i++) {
        if (fabric->times[i].next_ns > end_ns)
            continue;
        if (fabric->times[i].planned_ns <= end_ns)
            fabric->shortest_delay_ns = -1;
        sw_arrivals_prefetch(&fabric->members[i]->sw->arrivals, end_ns);
        sw_switch_run(fabric->members[i]->sw, end_ns);
        plan(fabric, i);
        if (fabric->shortest_delay_ns == 0)
            return;
    }
}

static uint64_t run_until(struct sw_fabric *fabric, int64_t until_ns)
{
    int64_t end_ns;

    sw_outbox_clear(&fabric->outbox);
    while ((end_ns = window_end_ns(fabric, until_ns)) != SW_NEVER)
        run_window(fabric, end_ns);
    return fabric->outbox.count;
}

uint64_t sw_fabric_drain(struct sw_fabric *fabric, int64_t until_ns)
{
    fabric->horizon_ns = until_ns;
    fabric->ahead_ns = SW_NEVER;
    return run_until(fabric, until_ns);
}

uint64_t sw_fabric_run_ahead(struct sw_fabric *fabric, int64_t until_ns)
{
    fabric->ahead_ns = next_event_ns(fabric);
    return run_until(fabric, until_ns);
}

uint64_t sw_fabric_step(struct sw_fabric *fabric, uint32_t index, uint32_t port, const uint8_t *bytes, uint32_t len,
                        int64_t time_ns)
{
    sw_fabric_receive(fabric, index, port, bytes, len, time_ns);
    return sw_fabric_drain(fabric, time_ns);
}

void sw_fabric_settle(struct sw_fabric *fabric)
{
    for (uint32_t i = 0; i < fabric->n_members; i++) {
        if (sw_switch_next_ns(fabric->members[i]->sw) > fabric->horizon_ns)
            sw_switch_advance(fabric->members[i]->sw, fabric->horizon_ns);
    }
}

void sw_fabric_replan(struct sw_fabric *fabric)
{
    fabric->shortest_delay_ns = -1;
    for (uint32_t i = 0; i < fabric->n_members; i++)
        plan(fabric, i);
}

int64_t sw_fabric_next_ns(const struct sw_fabric *fabric)
{
    int64_t next_ns = next_event_ns(fabric);

    if (fabric->ahead_ns < next_ns)
        next_ns = fabric->ahead_ns;
    for (uint32_t peer = 0; peer < fabric->n_outgoing; peer++) {
        const struct sw_outbox *outgoing = fabric->outgoing[peer];

        for (uint64_t i = 0; outgoing && i < outgoing->count; i++) {
            if (outgoing->items[i].due_ns < next_ns)
                next_ns = outgoing->items[i].due_ns;
        }
    }
    return next_ns;
}

const struct sw_outbox *sw_fabric_outbox(const struct sw_fabric *fabric)
{
    return &fabric->outbox;
}
