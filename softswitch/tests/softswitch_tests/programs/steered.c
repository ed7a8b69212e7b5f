/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * A program written by hand against pipeline.h, for tests of the target. A frame's Ethernet header selects the actions
 * on the frame. On departure its report header (EtherType 0x88B5) holds the metadata that egress saw.
 *
 *   0 egress port (2) | 2 class | 3 operations | 4 egress port of the second round (2) | 6 mirroring session
 *   7 multicast group, or else queue of the class | 8 bytes to truncate to (2) | 10 mark (user metadata, in field list
 * 1) | 11 flags
 */
#include "runtime/pipeline.h"

#include <string.h>

enum operation {
    OP_CLONE_INGRESS = 1,
    OP_RESUBMIT = 2,
    OP_MULTICAST = 4,
    OP_CLONE_EGRESS = 8,
    OP_RECIRCULATE = 16,
    OP_TRUNCATE_INGRESS = 32,
    OP_TRUNCATE_EGRESS = 64,
    OP_DROP_EGRESS = 128,
};

enum flag {
    FLAG_FOR_EVER = 1,  /* recirculate every round */
    FLAG_POP_EARLY = 2, /* remove the report header in ingress */
    FLAG_SPREAD = 4,    /* a recirculated packet goes to its group again */
};

enum { REPORT_WORDS = 13, REPORT_ETHERTYPE = 0x88B5, FIELDS = 1 };

struct phv {
    struct sw_phv shared;
    uint8_t ethernet[14];
    uint8_t report[4 * REPORT_WORDS];
    bool has_ethernet, has_report;
    uint32_t mark;   /* field list 1 */
    uint32_t rounds; /* field list 1 */
};

static uint32_t port_at(const struct phv *phv, uint32_t offset)
{
    return (uint32_t)phv->ethernet[offset] << 8 | phv->ethernet[offset + 1];
}

static void take(struct sw_packet *packet, void *header, uint32_t bytes)
{
    memcpy(header, packet->buffer + packet->head, bytes);
    packet->head += bytes;
    packet->len -= bytes;
    packet->parsed_bytes += bytes;
}

static void parse(struct sw_pipeline *pipeline, struct sw_packet *packet)
{
    struct phv *phv = (struct phv *)packet->phv;

    (void)pipeline;
    packet->parsed_bytes = 0;
    if (packet->len < sizeof(phv->ethernet)) {
        packet->phv->std.parser_error = 1;
        return;
    }
    take(packet, phv->ethernet, sizeof(phv->ethernet));
    phv->has_ethernet = true;
    if (port_at(phv, 12) == REPORT_ETHERTYPE && packet->len >= sizeof(phv->report)) {
        take(packet, phv->report, sizeof(phv->report));
        phv->has_report = true;
    }
}

static void truncate_to(struct sw_packet *packet, uint32_t bytes)
{
    packet->phv->requests.truncate = true;
    packet->phv->requests.truncate_bytes = bytes;
}

static void ingress(struct sw_pipeline *pipeline, struct sw_packet *packet)
{
    struct phv *phv = (struct phv *)packet->phv;
    uint8_t operations;

    parse(pipeline, packet);
    if (!phv->has_ethernet) {
        packet->phv->std.egress_spec = SW_DROP_PORT;
        return;
    }
    operations = phv->ethernet[3];
    if (packet->phv->std.instance_type == SW_INSTANCE_RECIRCULATED) {
        phv->rounds++;
        packet->phv->std.egress_spec = port_at(phv, 4);
        if (phv->ethernet[11] & FLAG_SPREAD)
            packet->phv->std.mcast_grp = phv->ethernet[7];
        return;
    }
    packet->phv->std.egress_spec = port_at(phv, 0);
    packet->phv->std.priority = phv->ethernet[2];
    if (packet->phv->std.instance_type == SW_INSTANCE_NORMAL)
        phv->mark = phv->ethernet[10];
    packet->phv->requests.clone = operations & OP_CLONE_INGRESS;
    packet->phv->requests.clone_session = phv->ethernet[6];
    packet->phv->requests.clone_fields = FIELDS;
    packet->phv->requests.resubmit = (operations & OP_RESUBMIT) && packet->phv->std.instance_type == SW_INSTANCE_NORMAL;
    packet->phv->requests.resubmit_fields = FIELDS;
    if (operations & OP_MULTICAST)
        packet->phv->std.mcast_grp = phv->ethernet[7];
    else
        packet->phv->std.egress_queue = phv->ethernet[7];
    if (operations & OP_TRUNCATE_INGRESS)
        truncate_to(packet, port_at(phv, 8));
    if ((phv->ethernet[11] & FLAG_POP_EARLY) && phv->has_report) {
        phv->has_report = false;
        packet->grown_bytes -= (int32_t)sizeof(phv->report);
    }
}

static void write_report(const struct sw_packet *packet, struct phv *phv)
{
    const struct sw_standard_metadata *std = &packet->phv->std;
    const uint32_t words[REPORT_WORDS] = {std->instance_type,
                                          std->ingress_port,
                                          std->egress_port,
                                          std->packet_length,
                                          std->enq_timestamp,
                                          std->enq_qdepth,
                                          std->deq_timedelta,
                                          std->deq_qdepth,
                                          std->egress_rid,
                                          phv->mark,
                                          std->qid,
                                          (uint32_t)std->egress_global_timestamp,
                                          (uint32_t)std->ingress_global_timestamp};

    for (uint32_t i = 0; i < REPORT_WORDS; i++) {
        for (uint32_t byte = 0; byte < 4; byte++)
            phv->report[4 * i + byte] = (uint8_t)(words[i] >> (24 - 8 * byte));
    }
}

static void deparse(struct sw_packet *packet, const struct phv *phv)
{
    if (phv->has_report) {
        packet->head -= sizeof(phv->report);
        packet->len += sizeof(phv->report);
        memcpy(packet->buffer + packet->head, phv->report, sizeof(phv->report));
    }
    if (phv->has_ethernet) {
        packet->head -= sizeof(phv->ethernet);
        packet->len += sizeof(phv->ethernet);
        memcpy(packet->buffer + packet->head, phv->ethernet, sizeof(phv->ethernet));
    }
}

static void egress(struct sw_pipeline *pipeline, struct sw_packet *packet)
{
    struct phv *phv = (struct phv *)packet->phv;
    uint8_t operations = phv->ethernet[3];
    bool is_clone = packet->phv->std.instance_type == SW_INSTANCE_INGRESS_CLONE ||
                    packet->phv->std.instance_type == SW_INSTANCE_EGRESS_CLONE;

    (void)pipeline;
    if (!is_clone) {
        packet->phv->requests.clone = operations & OP_CLONE_EGRESS;
        packet->phv->requests.clone_session = phv->ethernet[6];
        packet->phv->requests.clone_fields = FIELDS;
        packet->phv->requests.recirculate =
            (operations & OP_RECIRCULATE) && (!phv->rounds || (phv->ethernet[11] & FLAG_FOR_EVER));
        packet->phv->requests.recirculate_fields = FIELDS;
        if (operations & OP_TRUNCATE_EGRESS)
            truncate_to(packet, port_at(phv, 8));
        if (operations & OP_DROP_EGRESS)
            packet->phv->std.egress_spec = SW_DROP_PORT;
    }
    write_report(packet, phv);
    if (packet->phv->std.egress_spec != SW_DROP_PORT)
        deparse(packet, phv);
}

static void copy_fields(int32_t field_list, const struct sw_packet *from, struct sw_packet *to)
{
    const struct phv *source = (const struct phv *)from->phv;
    struct phv *target = (struct phv *)to->phv;

    if (field_list != FIELDS)
        return;
    target->mark = source->mark;
    target->rounds = source->rounds;
}

static void copy_headers(const struct sw_packet *from, struct sw_packet *to)
{
    const struct phv *source = (const struct phv *)from->phv;
    struct phv *target = (struct phv *)to->phv;

    memcpy(target->ethernet, source->ethernet, sizeof(target->ethernet));
    memcpy(target->report, source->report, sizeof(target->report));
    target->has_ethernet = source->has_ethernet;
    target->has_report = source->has_report;
}

static int init(struct sw_pipeline *pipeline)
{
    (void)pipeline;
    return 0;
}

/* Objects for control commands; packets do not use them. */
static const struct sw_field_info forward_params[] = {{"port", 9}, {"address", 48}};
static const struct sw_action_info actions[] = {
    {"NoAction", NULL, 0},
    {"Main.forward", forward_params, 2},
    {"Main.drop", NULL, 0},
};
static const struct sw_key_info routes_keys[] = {{"ipv4.destination", 32, SW_MATCH_LPM}};
static const struct sw_key_info filter_keys[] = {
    {"ethernet.source", 48, SW_MATCH_EXACT},
    {"ipv6.source", 128, SW_MATCH_TERNARY},
    {"udp.port", 16, SW_MATCH_RANGE},
    {"ipv4.protocol", 8, SW_MATCH_OPTIONAL},
};
static const struct sw_key_info select_keys[] = {{"meta.group", 10, SW_MATCH_EXACT}};
static const uint16_t all_actions[] = {0, 1, 2};
static const struct sw_table_info tables[] = {
    {.name = "Main.routes",
     .keys = routes_keys,
     .actions = all_actions,
     .n_keys = 1,
     .n_actions = 3,
     .max_entries = 1024,
     .action_profile = -1,
     .direct_counter = 1,
     .direct_meter = -1,
     .default_action = 2},
    {.name = "Main.filter",
     .keys = filter_keys,
     .actions = all_actions,
     .n_keys = 4,
     .n_actions = 3,
     .max_entries = 16,
     .action_profile = -1,
     .direct_counter = -1,
     .direct_meter = -1,
     .default_action = 0},
    {.name = "Main.select",
     .keys = select_keys,
     .actions = all_actions,
     .n_keys = 1,
     .n_actions = 3,
     .max_entries = 16,
     .action_profile = 0,
     .direct_counter = -1,
     .direct_meter = -1,
     .default_action = 0},
};
static const struct sw_profile_info profiles[] = {{"Main.spread", 64, true}};
static const struct sw_array_info registers[] = {
    {.name = "Main.state", .count = 8, .bits = 48},
    {.name = "Main.east.depth", .count = 4, .bits = 32},
    {.name = "Main.west.depth", .count = 4, .bits = 32},
};
static const struct sw_array_info counters[] = {
    {.name = "Main.hits", .count = 4},
    {.name = "Main.routes_hits", .is_direct = true},
};
static const struct sw_array_info meters[] = {
    {.name = "Main.limit", .count = 4, .counts_bytes = true, .meter_rates = 2},
};

const struct sw_program sw_program = {
    .abi = SW_PROGRAM_ABI,
    .name = "steered",
    .phv_bytes = sizeof(struct phv),
    .reach_bytes = sizeof(((struct phv *)0)->ethernet) + sizeof(((struct phv *)0)->report),
    .actions = actions,
    .tables = tables,
    .profiles = profiles,
    .registers = registers,
    .counters = counters,
    .meters = meters,
    .n_actions = 3,
    .n_tables = 3,
    .n_profiles = 1,
    .n_registers = 3,
    .n_counters = 2,
    .n_meters = 1,
    .init = init,
    .ingress = ingress,
    .egress = egress,
    .copy_fields = copy_fields,
    .parse = parse,
    .copy_headers = copy_headers,
};
