/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Commands on mirroring sessions and multicast.
 */
#include "control/commands.h"
#include "control/words/values.h"
#include "switch/switch_state.h"

#include <inttypes.h>
#include <string.h>

#define PORT_MAX (SW_PORT_COUNT - 1)
#define GROUP_MAX (SW_MULTICAST_GROUP_COUNT - 1)
#define DELAY_MAX UINT64_C(1000000000000000)

static int read_target(struct sw_command *command, uint32_t word, const char *what, uint32_t max, int32_t *target)
{
    uint32_t number;

    if (sw_read_u32(command, command->words[word], what, max, &number) < 0)
        return -1;
    *target = (int32_t)number;
    return 0;
}

static int read_session(struct sw_command *command, uint32_t *session)
{
    return sw_read_u32(command, command->words[1], "session", SW_MIRROR_SESSION_COUNT - 1, session);
}

/* Adds the session in words[1]. The port, the group and, if given, the length of copies follow it in this order. */
static int add_session(struct sw_command *command, bool has_port, bool has_group)
{
    struct sw_mirror_session to = {.port = -1, .group = -1};
    uint32_t session, word = 2;

    if (has_port && read_target(command, word++, "port", PORT_MAX, &to.port) < 0)
        return -1;
    if (has_group && read_target(command, word++, "group", GROUP_MAX, &to.group) < 0)
        return -1;
    if (word < command->n_words && sw_read_u32(command, command->words[word], "length", UINT32_MAX, &to.most_bytes) < 0)
        return -1;
    if (read_session(command, &session) < 0)
        return -1;
    return sw_command_check(command, sw_mirror_set(&command->sw->target.replication, session, to), "the session");
}

int sw_do_mirroring_add(struct sw_command *command)
{
    return add_session(command, true, false);
}

int sw_do_mirroring_add_mc(struct sw_command *command)
{
    return add_session(command, false, true);
}

int sw_do_mirroring_add_port_and_mgrp(struct sw_command *command)
{
    return add_session(command, true, true);
}

int sw_do_mirroring_delay(struct sw_command *command)
{
    uint64_t delay_ns;
    uint32_t session;

    if (read_session(command, &session) < 0 ||
        sw_read_number(command, command->words[2], "delay", DELAY_MAX, &delay_ns) < 0)
        return -1;
    return sw_command_check(command, sw_mirror_set_delay(&command->sw->target.replication, session, (int64_t)delay_ns),
                            "the session");
}

int sw_do_mirroring_delete(struct sw_command *command)
{
    uint32_t session;

    if (read_session(command, &session) < 0)
        return -1;
    return sw_command_check(command, sw_mirror_delete(&command->sw->target.replication, session), "the session");
}

int sw_do_mirroring_get(struct sw_command *command)
{
    const struct sw_mirror_session *found;
    uint32_t session;

    if (read_session(command, &session) < 0)
        return -1;
    found = sw_mirror_find(&command->sw->target.replication, session);
    if (!found)
        return sw_command_fail(command, "session '%s' does not exist", command->words[1]);
    if (found->port >= 0)
        sw_text_add(command->out, "port=%" PRId32 "%s", found->port, found->group >= 0 ? " " : "");
    if (found->group >= 0)
        sw_text_add(command->out, "mgid=%" PRId32, found->group);
    if (found->port >= 0 && found->delay_ns)
        sw_text_add(command->out, " delay_ns=%" PRId64, found->delay_ns);
    if (found->most_bytes)
        sw_text_add(command->out, " most_bytes=%" PRIu32, found->most_bytes);
    sw_text_add(command->out, "\n");
    return 0;
}

static int read_group(struct sw_command *command, uint32_t word, uint32_t *group)
{
    return sw_read_u32(command, command->words[word], "group", GROUP_MAX, group);
}

static int read_node(struct sw_command *command, uint32_t word, uint32_t *node)
{
    return sw_read_u32(command, command->words[word], "node", SW_MULTICAST_NODE_COUNT - 1, node);
}

int sw_do_mc_mgrp_create(struct sw_command *command)
{
    uint32_t group;

    if (read_group(command, 1, &group) < 0)
        return -1;
    return sw_command_check(command, sw_multicast_create_group(&command->sw->target.replication, group), "the group");
}

int sw_do_mc_mgrp_destroy(struct sw_command *command)
{
    uint32_t group;

    if (read_group(command, 1, &group) < 0)
        return -1;
    return sw_command_check(command, sw_multicast_destroy_group(&command->sw->target.replication, group), "the group");
}

static int read_set(struct sw_command *command, uint32_t first, uint32_t end, const char *what, uint32_t max,
                    struct sw_port_set *set)
{
    for (uint32_t i = first; i < end; i++) {
        uint32_t number;

        if (sw_read_u32(command, command->words[i], what, max, &number) < 0)
            return -1;
        if (sw_port_set_has(set, number))
            return sw_command_fail(command, "%s '%s' is given twice", what, command->words[i]);
        sw_port_set_add(set, number);
    }
    return 0;
}

/* Reads PORT... [| LAG...] from words[2] on. */
static int read_ports_and_lags(struct sw_command *command, struct sw_port_set *ports, struct sw_port_set *lags)
{
    uint32_t bar = 2;

    while (bar < command->n_words && strcmp(command->words[bar], "|") != 0)
        bar++;
    if (read_set(command, 2, bar, "port", PORT_MAX, ports) < 0)
        return -1;
    return read_set(command, bar + 1, command->n_words, "LAG", SW_LAG_COUNT - 1, lags);
}

int sw_do_mc_node_create(struct sw_command *command)
{
    struct sw_port_set ports = {0}, lags = {0};
    uint32_t rid, node = 0;

    if (sw_read_u32(command, command->words[1], "rid", UINT16_MAX, &rid) < 0 ||
        read_ports_and_lags(command, &ports, &lags) < 0 ||
        sw_command_check(command, sw_multicast_create_node(&command->sw->target.replication, rid, &ports, &lags, &node),
                         "the node") < 0)
        return -1;
    sw_text_add(command->out, "node was created with handle %" PRIu32 "\n", node);
    return 0;
}

int sw_do_mc_node_update(struct sw_command *command)
{
    struct sw_port_set ports = {0}, lags = {0};
    uint32_t node;

    if (read_node(command, 1, &node) < 0 || read_ports_and_lags(command, &ports, &lags) < 0)
        return -1;
    return sw_command_check(command, sw_multicast_update_node(&command->sw->target.replication, node, &ports, &lags),
                            "the node");
}

int sw_do_mc_node_associate(struct sw_command *command)
{
    uint32_t group, node;

    if (read_group(command, 1, &group) < 0 || read_node(command, 2, &node) < 0)
        return -1;
    return sw_command_check(command, sw_multicast_associate(&command->sw->target.replication, group, node),
                            "the node or the group");
}

int sw_do_mc_node_dissociate(struct sw_command *command)
{
    uint32_t group, node;

    if (read_group(command, 1, &group) < 0 || read_node(command, 2, &node) < 0)
        return -1;
    return sw_command_check(command, sw_multicast_dissociate(&command->sw->target.replication, group, node),
                            "the node in the group");
}

int sw_do_mc_node_destroy(struct sw_command *command)
{
    uint32_t node;

    if (read_node(command, 1, &node) < 0)
        return -1;
    return sw_command_check(command, sw_multicast_destroy_node(&command->sw->target.replication, node), "the node");
}

int sw_do_mc_set_lag_membership(struct sw_command *command)
{
    struct sw_port_set ports = {0};
    uint32_t lag;

    if (sw_read_u32(command, command->words[1], "LAG", SW_LAG_COUNT - 1, &lag) < 0 ||
        read_set(command, 2, command->n_words, "port", PORT_MAX, &ports) < 0)
        return -1;
    command->sw->target.replication.lags[lag] = ports;
    return 0;
}

static void print_set(struct sw_text *out, const char *what, const struct sw_port_set *set)
{
    const char *between = "";

    sw_text_add(out, "%s=[", what);
    for (uint32_t i = 0; i < SW_PORT_COUNT; i++) {
        if (sw_port_set_has(set, i)) {
            sw_text_add(out, "%s%" PRIu32, between, i);
            between = ", ";
        }
    }
    sw_text_add(out, "]");
}

static void print_node(struct sw_text *out, uint32_t handle, const struct sw_multicast_node *node)
{
    sw_text_add(out, "(L1h=%" PRIu32 ", rid=%" PRIu32 ") -> (", handle, node->rid);
    print_set(out, "ports", &node->ports);
    print_set(out, ", lags", &node->lags);
    sw_text_add(out, ")\n");
}

int sw_do_mc_dump(struct sw_command *command)
{
    const struct sw_replication *replication = &command->sw->target.replication;
    struct sw_text *out = command->out;

    for (uint32_t group = 0; group < replication->n_groups; group++) {
        const struct sw_multicast_group *found = sw_multicast_find(replication, group);

        for (uint32_t i = 0; found && i < found->n_nodes; i++) {
            sw_text_add(out, "mgrp(%" PRIu32 ") -> ", group);
            print_node(out, found->nodes[i], &replication->nodes[found->nodes[i]]);
        }
        if (found && !found->n_nodes)
            sw_text_add(out, "mgrp(%" PRIu32 ")\n", group);
    }
    for (uint32_t node = 0; node < replication->n_nodes; node++) {
        if (replication->nodes[node].exists && replication->nodes[node].group < 0)
            print_node(out, node, &replication->nodes[node]);
    }
    for (uint32_t lag = 0; lag < SW_LAG_COUNT; lag++) {
        static const struct sw_port_set empty;

        if (memcmp(&replication->lags[lag], &empty, sizeof(empty)) == 0)
            continue;
        sw_text_add(out, "lag(%" PRIu32 ") -> ", lag);
        print_set(out, "ports", &replication->lags[lag]);
        sw_text_add(out, "\n");
    }
    return 0;
}
