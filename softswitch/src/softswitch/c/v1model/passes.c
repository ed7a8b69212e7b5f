/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The processing of a packet between and after the two passes of a program, like BMv2's simple_switch: clones,
 * resubmission, recirculation, replication, drops, queueing metadata. Queues and wires belong to the traffic manager.
 *
 * Three properties are kept from BMv2 because programs rely on them. A clone, a replica and a recirculated packet start
 * with the whole payload, even if the pass requested a truncation. Metadata that no field list preserves is 0 in them,
 * including ingress_port and ingress_global_timestamp. A unicast packet has instance type 0 in egress, whatever it had
 * in ingress.
 */
#include "v1model/passes.h"

#include <string.h>

/* The position of a packet's stored bytes, whose end is always the end of the packet. */
struct extent {
    uint32_t head, len;
};

/* Prepares a packet for a pass, which sees the truncation that an earlier pass requested. */
static void clear_requests(struct sw_frame *frame)
{
    frame->packet.phv->requests = (struct sw_requests){
        .truncate = frame->truncate_bytes != SW_WHOLE_FRAME,
        .clone_fields = -1,
        .resubmit_fields = -1,
        .recirculate_fields = -1,
        .truncate_bytes = frame->truncate_bytes,
    };
    frame->packet.grown_bytes = 0;
}

/*
 * Applies a pass's changes to the packet's size; the smallest truncation counts. The target keeps its own length, as in
 * BMv2: a value that the program writes to packet_length is lost at the end of the pass.
 */
static void keep_size(struct sw_frame *frame)
{
    const struct sw_requests *requests = &frame->packet.phv->requests;

    if (requests->truncate && requests->truncate_bytes < frame->truncate_bytes)
        frame->truncate_bytes = requests->truncate_bytes;
    frame->length += (uint32_t)frame->packet.grown_bytes;
}

/* Gives a frame the number of a new family, unless it has one. */
static void join_family(struct sw_target *target, struct sw_frame *frame)
{
    if (!frame->family)
        frame->family = ++target->last_family ? target->last_family : ++target->last_family;
}

/* Counts a pass that begins because the program of a frame asks for it; false if the frame may not begin another one.
 * A family whose count another one has replaced begins to count again: the passes per arriving packet stay limited. */
static bool begin_pass(struct sw_target *target, struct sw_frame *frame)
{
    struct sw_family *family;

    join_family(target, frame);
    family = &target->families[frame->family % SW_FAMILIES];
    if (family->number != frame->family)
        *family = (struct sw_family){.number = frame->family};
    return frame->passes < SW_PASS_LIMIT && family->passes++ < SW_FAMILY_PASS_LIMIT;
}

/* A frame holding a copy of `extent` of another, with a PHV of zeros; NULL (counted) when memory is short. */
static struct sw_frame *copy_of(struct sw_target *target, struct sw_frame *frame, struct extent extent)
{
    struct sw_frame *copy = sw_pool_is_full(&target->pool) ? NULL : sw_pool_acquire(&target->pool, extent.len);

    if (!copy) {
        sw_target_count_drop(target, frame->port, SW_DROP_MEMORY);
        return NULL;
    }
    if (!sw_pool_lend_phv(&target->pool, copy)) {
        sw_target_drop(target, copy, frame->port, SW_DROP_MEMORY);
        return NULL;
    }
    memcpy(copy->packet.buffer + copy->packet.head, frame->packet.buffer + extent.head, extent.len);
    if (SW_LOGS)
        sw_log_copy(target->pipeline, &frame->packet, &copy->packet);
    copy->packet.tail = frame->packet.tail;
    copy->length = sw_packet_bytes(&copy->packet);
    copy->port = frame->port;
    copy->passes = frame->passes;
    join_family(target, frame);
    copy->family = frame->family;
    return copy;
}

static void enqueue(struct sw_target *target, uint32_t port, struct sw_frame *frame)
{
    struct sw_standard_metadata *std = &frame->packet.phv->std;
    uint32_t class_ = std->priority;

    if (port >= SW_PORT_COUNT || class_ >= SW_CLASS_COUNT) {
        sw_target_drop(target, frame, frame->port, SW_DROP_BAD_DESTINATION);
        return;
    }
    if (sw_tm_is_full(&target->tm, port, class_)) {
        sw_target_drop(target, frame, port, SW_DROP_QUEUE_FULL);
        return;
    }
    std->enq_timestamp = (uint32_t)sw_target_us(target);
    std->enq_qdepth = target->tm.ports[port].queues[class_].packets;
    frame->port = (uint16_t)port;
    frame->queue = (uint8_t)std->egress_queue;
    frame->time_ns = target->now_ns;
    frame->queued_bytes = frame->length < frame->truncate_bytes ? frame->length : frame->truncate_bytes;
    sw_telemetry_touch(&target->telemetry, port);
    sw_tm_enqueue(&target->tm, port, class_, frame, target->now_ns);
}

struct replica_source {
    struct sw_target *target;
    struct sw_frame *frame;
    uint32_t truncate_bytes; /* of the copies; SW_WHOLE_FRAME without truncation */
    uint32_t copies;
};

static void enqueue_replica(void *ctx, uint32_t port, uint32_t rid)
{
    struct replica_source *source = ctx;
    struct sw_target *target = source->target;
    struct sw_packet *from = &source->frame->packet;
    struct sw_frame *copy = copy_of(target, source->frame, (struct extent){from->head, from->len});

    source->copies++;
    if (!copy)
        return;
    SW_LOG(target->pipeline, from, SW_LOG_DEBUG, "Replicating packet on port %u", port);
    memcpy(copy->packet.phv, from->phv, target->program->phv_bytes);
    copy->packet.parsed_bytes = from->parsed_bytes;
    copy->packet.phv->std.egress_rid = rid;
    copy->length = source->frame->length;
    copy->truncate_bytes = source->truncate_bytes;
    target->counters.multicast_copies++;
    enqueue(target, port, copy);
}

/* Enqueues a copy for every member of a group; the caller keeps ownership of the packet. */
static void replicate(struct sw_target *target, struct sw_frame *frame, uint32_t group_id, uint32_t truncate_bytes)
{
    const struct sw_multicast_group *group = sw_multicast_find(&target->replication, group_id);
    struct replica_source source = {.target = target, .frame = frame, .truncate_bytes = truncate_bytes};

    if (group)
        sw_multicast_replicate(&target->replication, group, enqueue_replica, &source);
    if (!source.copies)
        sw_target_count_drop(target, frame->port, SW_DROP_NO_COPIES);
}

/* Schedules a clone to reach its queue later; takes ownership of it. */
static void delay_clone(struct sw_target *target, const struct sw_mirror_session *session, struct sw_frame *clone)
{
    clone->port = (uint16_t)session->port;
    clone->time_ns = target->now_ns + session->delay_ns;
    if (sw_arrivals_push(&target->copies, clone) < 0)
        sw_target_drop(target, clone, clone->port, SW_DROP_MEMORY);
}

/* Cuts a packet to its first `bytes` bytes, of which it has more. */
static void cut(struct sw_packet *packet, uint32_t bytes)
{
    uint32_t excess = sw_packet_bytes(packet) - bytes;
    uint32_t from_end = excess < packet->tail.after ? excess : packet->tail.after;
    uint32_t from_tail = excess - from_end < packet->tail.bytes ? excess - from_end : packet->tail.bytes;

    packet->tail.after -= (uint16_t)from_end;
    packet->tail.bytes -= (uint16_t)from_tail;
    packet->len -= excess - from_tail;
}

/* Cuts a parsed clone to its session's length: first its payload, and its headers when it leaves. */
static void shorten(struct sw_frame *clone, uint32_t most_bytes)
{
    uint32_t payload = sw_packet_bytes(&clone->packet), excess;

    if (!most_bytes || clone->length <= most_bytes)
        return;
    excess = clone->length - most_bytes;
    if (excess > payload) {
        clone->truncate_bytes = most_bytes;
        excess = payload;
    }
    cut(&clone->packet, payload - excess);
    clone->length -= excess;
}

/* Sends a clone to the destinations of its mirroring session; takes ownership of it. */
static void send_clone(struct sw_target *target, const struct sw_mirror_session *session, struct sw_frame *clone)
{
    shorten(clone, session->most_bytes);
    if (session->group >= 0)
        SW_LOG(target->pipeline, &clone->packet, SW_LOG_DEBUG, "Cloning packet to MGID %d", session->group);
    if (session->port >= 0)
        SW_LOG(target->pipeline, &clone->packet, SW_LOG_DEBUG, "Cloning packet to egress port %d", session->port);
    if (session->group >= 0)
        replicate(target, clone, (uint32_t)session->group, clone->truncate_bytes);
    if (session->port < 0)
        sw_pool_release(&target->pool, clone);
    else if (session->delay_ns)
        delay_clone(target, session, clone);
    else
        enqueue(target, (uint32_t)session->port, clone);
}

void sw_v1model_copy(struct sw_target *target)
{
    struct sw_frame *clone = sw_arrivals_pop(&target->copies);

    enqueue(target, clone->port, clone);
}

/* The session of the requested clone; NULL (counted) if the session is not configured. */
static const struct sw_mirror_session *clone_session(struct sw_target *target, const struct sw_packet *packet)
{
    const struct sw_mirror_session *session = sw_mirror_find(&target->replication, packet->phv->requests.clone_session);

    if (!session)
        target->counters.clones_without_session++;
    return session;
}

/* Clones the packet as it entered ingress, and parses it again. */
static void clone_ingress(struct sw_target *target, struct sw_frame *frame, struct extent received)
{
    const struct sw_mirror_session *session = clone_session(target, &frame->packet);
    struct sw_frame *clone = session ? copy_of(target, frame, received) : NULL;

    if (!clone)
        return;
    clear_requests(clone);
    clone->packet.phv->std.ingress_port = frame->port;
    target->program->parse(target->pipeline, &clone->packet);
    memset(&clone->packet.phv->std, 0, sizeof(clone->packet.phv->std));
    target->program->copy_fields(frame->packet.phv->requests.clone_fields, &frame->packet, &clone->packet);
    clone->packet.phv->std.instance_type = SW_INSTANCE_INGRESS_CLONE;
    clone->length += (uint32_t)clone->packet.grown_bytes;
    target->counters.ingress_clones++;
    send_clone(target, session, clone);
}

/* Clones the packet with the headers at the end of egress and the payload; of the metadata only a field list is kept.
 */
static void clone_egress(struct sw_target *target, struct sw_frame *frame, struct extent payload)
{
    const struct sw_mirror_session *session = clone_session(target, &frame->packet);
    struct sw_frame *clone;

    if (!session)
        return;
    if (!begin_pass(target, frame)) {
        sw_target_count_drop(target, frame->port, SW_DROP_PASS_LIMIT);
        return;
    }
    clone = copy_of(target, frame, payload);
    if (!clone)
        return;
    clone->passes++;
    target->program->copy_headers(&frame->packet, &clone->packet);
    target->program->copy_fields(frame->packet.phv->requests.clone_fields, &frame->packet, &clone->packet);
    clone->packet.phv->std.instance_type = SW_INSTANCE_EGRESS_CLONE;
    clone->length = frame->length;
    target->counters.egress_clones++;
    send_clone(target, session, clone);
}

/* Sends the bytes of `extent` through ingress again; of the metadata only a field list is kept. */
static void go_round(struct sw_target *target, struct sw_frame *frame, struct extent extent, int32_t fields,
                     enum sw_instance_type type)
{
    struct sw_frame *again;

    if (!begin_pass(target, frame)) {
        sw_target_drop(target, frame, frame->port, SW_DROP_PASS_LIMIT);
        return;
    }
    again = copy_of(target, frame, extent);
    if (again) {
        again->passes++;
        target->program->copy_fields(fields, &frame->packet, &again->packet);
        again->packet.phv->std.instance_type = type;
        again->packet.phv->std.packet_length = again->length;
        sw_frame_list_push(&target->loopback, again);
    }
    sw_pool_release(&target->pool, frame);
}

/* Stores the bytes that a frame describes; NULL (counted, the frame released) when memory is short. */
static struct sw_frame *store_tail(struct sw_target *target, struct sw_frame *frame)
{
    uint32_t bytes = sw_packet_bytes(&frame->packet), before = frame->packet.len - frame->packet.tail.after;
    struct sw_frame *whole = sw_pool_is_full(&target->pool) ? NULL : sw_pool_acquire(&target->pool, bytes);
    uint8_t *to;

    if (!whole) {
        sw_target_drop(target, frame, frame->port, SW_DROP_MEMORY);
        return NULL;
    }
    to = whole->packet.buffer + whole->packet.head;
    memcpy(to, sw_frame_bytes(frame), before);
    memcpy(to + before, target->block + frame->packet.tail.start, frame->packet.tail.bytes);
    memcpy(to + before + frame->packet.tail.bytes, sw_frame_bytes(frame) + before, frame->packet.tail.after);
    whole->packet.phv = frame->packet.phv;
    frame->packet.phv = NULL;
    if (SW_LOGS)
        sw_log_copy(target->pipeline, &frame->packet, &whole->packet);
    whole->port = frame->port;
    whole->passes = frame->passes;
    whole->family = frame->family;
    whole->time_ns = frame->time_ns;
    whole->is_past_link = frame->is_past_link;
    sw_pool_release(&target->pool, frame);
    return whole;
}

void sw_v1model_ingress(struct sw_target *target, struct sw_frame *frame)
{
    struct sw_packet *packet;
    struct extent received;

    if (frame->packet.tail.bytes && frame->packet.len - frame->packet.tail.after < target->program->reach_bytes)
        frame = store_tail(target, frame);
    if (!frame)
        return;
    packet = &frame->packet;
    received = (struct extent){packet->head, packet->len};
    SW_LOG(target->pipeline, packet, SW_LOG_DEBUG, "Processing packet received on port %u", frame->port);
    clear_requests(frame);
    sw_pipeline_set_time(target->pipeline, sw_target_us(target));
    target->program->ingress(target->pipeline, packet);
    if (packet->phv->requests.endless) {
        sw_target_drop(target, frame, frame->port, SW_DROP_STEP_LIMIT);
        return;
    }
    keep_size(frame);
    if (packet->phv->std.parser_error)
        target->counters.malformed++;

    if (packet->phv->requests.clone) {
        SW_LOG(target->pipeline, packet, SW_LOG_DEBUG, "Cloning packet at ingress");
        clone_ingress(target, frame, received);
    }
    if (packet->phv->requests.resubmit) {
        SW_LOG(target->pipeline, packet, SW_LOG_DEBUG, "Resubmitting packet");
        target->counters.resubmitted++;
        go_round(target, frame, received, packet->phv->requests.resubmit_fields, SW_INSTANCE_RESUBMITTED);
    } else if (packet->phv->std.mcast_grp) {
        SW_LOG(target->pipeline, packet, SW_LOG_DEBUG, "Multicast requested for packet");
        packet->phv->std.instance_type = SW_INSTANCE_REPLICATION;
        replicate(target, frame, packet->phv->std.mcast_grp, SW_WHOLE_FRAME);
        sw_pool_release(&target->pool, frame);
    } else if (packet->phv->std.egress_spec == SW_DROP_PORT) {
        SW_LOG(target->pipeline, packet, SW_LOG_DEBUG, "Egress port is %u", packet->phv->std.egress_spec);
        sw_target_drop(target, frame, frame->port, SW_DROP_INGRESS);
    } else {
        SW_LOG(target->pipeline, packet, SW_LOG_DEBUG, "Egress port is %u", packet->phv->std.egress_spec);
        packet->phv->std.instance_type = SW_INSTANCE_NORMAL;
        enqueue(target, packet->phv->std.egress_spec, frame);
    }
}

/* Hands a frame to the device of its port. */
static void hand_over(struct sw_target *target, uint32_t port, struct sw_frame *frame)
{
    struct sw_port_counters *counters = &target->counters.ports[port];

    SW_LOG(target->pipeline, &frame->packet, SW_LOG_DEBUG, "Transmitting packet of size %u out of port %u",
           sw_packet_bytes(&frame->packet), port);
    counters->tx_packets++;
    counters->tx_bytes += sw_packet_bytes(&frame->packet);
    sw_telemetry_count(&target->telemetry, port, 0, sw_packet_bytes(&frame->packet));
    if (target->output)
        target->output(target->output_ctx, port, frame->time_ns, &frame->packet);
    else
        sw_pool_release(&target->pool, frame);
}

/* Counts the bytes of a frame that the port has sent and its link has lost. */
static void lose(struct sw_target *target, uint32_t port, uint32_t bytes)
{
    sw_telemetry_count(&target->telemetry, port, 0, bytes);
    sw_telemetry_lose(&target->telemetry, port, bytes);
}

/* Hands a frame to the device over an impaired link. The link makes the duplicate, so it takes no time on the port. */
static void hand_over_impaired(struct sw_target *target, uint32_t port, struct sw_frame *frame)
{
    struct sw_frame *copy;
    uint32_t bytes = sw_packet_bytes(&frame->packet);

    if (!sw_target_impair(target, target->tm.ports[port].leaving, port, frame, &copy)) {
        lose(target, port, bytes);
        return;
    }
    hand_over(target, port, frame);
    if (copy)
        hand_over(target, port, copy);
}

/* Puts a whole frame on the wire of its port, or drops it if the port has no device or its link is down. A dead link
 * takes as long as a live one, so that the queue depths a program sees stay correct. */
static void transmit(struct sw_target *target, uint32_t port, struct sw_frame *frame)
{
    uint32_t bytes;

    if (sw_packet_bytes(&frame->packet) > frame->truncate_bytes)
        cut(&frame->packet, frame->truncate_bytes);
    bytes = sw_packet_bytes(&frame->packet);
    if (!target->tm.ports[port].has_device || (bytes == 0 && !target->tm.ports[port].carries_empty)) {
        sw_tm_occupy(&target->tm, port, target->now_ns, 0);
        sw_target_drop(target, frame, port, bytes ? SW_DROP_NO_DEVICE : SW_DROP_BAD_LENGTH);
        return;
    }
    if (target->tm.ports[port].is_down) {
        sw_tm_occupy(&target->tm, port, target->now_ns, bytes);
        lose(target, port, bytes);
        sw_target_drop(target, frame, port, SW_DROP_LINK_DOWN);
        return;
    }
    frame->time_ns = sw_tm_occupy(&target->tm, port, target->now_ns, bytes);
    sw_pool_return_phv(&target->pool, frame);
    if (target->tm.ports[port].leaving)
        hand_over_impaired(target, port, frame);
    else
        hand_over(target, port, frame);
}

/* Sets the queueing metadata of a packet that leaves its queue. */
static void set_egress_metadata(const struct sw_target *target, struct sw_frame *frame, uint32_t port, uint32_t class_)
{
    struct sw_standard_metadata *std = &frame->packet.phv->std;

    std->egress_global_timestamp = sw_target_us(target);
    std->deq_timedelta = (uint32_t)sw_target_us(target) - std->enq_timestamp;
    std->deq_qdepth = target->tm.ports[port].queues[class_].packets;
    std->qid = class_;
    std->egress_port = port;
    std->egress_spec = 0;
    std->packet_length = frame->length;
}

void sw_v1model_egress(struct sw_target *target, uint32_t port)
{
    uint32_t class_, payload_len;
    struct sw_frame *frame = sw_tm_start(&target->tm, port, target->now_ns, &class_);
    struct sw_packet *packet;
    bool dropped;

    if (!frame)
        return;
    set_egress_metadata(target, frame, port, class_);
    packet = &frame->packet;
    payload_len = packet->len;
    clear_requests(frame);
    sw_pipeline_set_time(target->pipeline, sw_target_us(target));
    target->program->egress(target->pipeline, packet);
    if (packet->phv->requests.endless) {
        sw_tm_occupy(&target->tm, port, target->now_ns, 0);
        sw_target_drop(target, frame, port, SW_DROP_STEP_LIMIT);
        return;
    }
    keep_size(frame);

    dropped = packet->phv->std.egress_spec == SW_DROP_PORT;
    if (packet->phv->requests.clone) {
        struct extent payload = {packet->head + packet->len - payload_len, payload_len};

        SW_LOG(target->pipeline, packet, SW_LOG_DEBUG, "Cloning packet at egress");
        clone_egress(target, frame, payload);
    }
    if (dropped) {
        sw_tm_occupy(&target->tm, port, target->now_ns, 0);
        sw_target_drop(target, frame, port, SW_DROP_EGRESS);
    } else if (packet->phv->requests.recirculate) {
        sw_tm_occupy(&target->tm, port, target->now_ns, 0);
        SW_LOG(target->pipeline, packet, SW_LOG_DEBUG, "Recirculating packet");
        target->counters.recirculated++;
        go_round(target, frame, (struct extent){packet->head, packet->len}, packet->phv->requests.recirculate_fields,
                 SW_INSTANCE_RECIRCULATED);
    } else {
        transmit(target, port, frame);
    }
}
