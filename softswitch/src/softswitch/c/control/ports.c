/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Commands on the target's ports, limits, clock and counters.
 */
#include "control/commands.h"
#include "control/words/values.h"
#include "switch/switch_state.h"

#include <inttypes.h>
#include <string.h>

#define RATE_MAX UINT64_C(1000000000000000)
#define PACKET_RATE_MAX UINT64_C(1000000000)
#define DELAY_MAX UINT64_C(1000000000000000)

static int read_device_port(struct sw_command *command, const char *word, uint32_t *port)
{
    if (sw_read_u32(command, word, "port", SW_PORT_COUNT - 1, port) < 0)
        return -1;
    if (!command->sw->target.tm.ports[*port].has_device)
        return sw_command_fail(command, "port '%s' has no interface", word);
    return 0;
}

int sw_read_port(struct sw_command *command, uint32_t *port)
{
    return read_device_port(command, command->words[1], port);
}

int sw_do_show_ports(struct sw_command *command)
{
    sw_text_add(command->out, "%-6s%-18s%16s%14s%18s%13s\n", "port", "interface", "rate_bps", "delay_ns",
                "ingress_delay_ns", "mac_control");
    for (uint32_t i = 0; i < SW_PORT_COUNT; i++) {
        const struct sw_port *port = &command->sw->target.tm.ports[i];
        const char *name = command->sw->port_names[i];

        if (!name && !(port->rate_bps | (uint64_t)port->delay_ns | (uint64_t)port->ingress_delay_ns))
            continue;
        sw_text_add(command->out, "%-6" PRIu32 "%-18s%16" PRIu64 "%14" PRId64 "%18" PRId64 "%13s\n", i,
                    name ? name : "memory", port->rate_bps, port->delay_ns, port->ingress_delay_ns,
                    port->decodes_mac_control ? "on" : "off");
    }
    return 0;
}

static void add_queues(struct sw_text *out, uint32_t number, const struct sw_port *port)
{
    for (uint32_t class_ = 0; class_ < SW_CLASS_COUNT; class_++) {
        const struct sw_round *round = port->queues[class_].round;

        if (round)
            sw_text_add(out, "port_queues %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", number, class_,
                        round->count, round->quantum_bytes);
    }
}

static void add_port_settings(struct sw_text *out, uint32_t number, const struct sw_port *port)
{
    if (port->keeps_rate)
        sw_text_add(out, "port_rate %" PRIu32 " %" PRIu64 "\n", number, port->rate_bps);
    if (port->keeps_rate && port->rate_pps)
        sw_text_add(out, "set_queue_rate %" PRIu64 " %" PRIu32 "\n", port->rate_pps, number);
    for (uint32_t class_ = 0; port->keeps_depth && class_ < SW_CLASS_COUNT; class_++) {
        if (port->queues[class_].most_packets < SW_ANY_DEPTH)
            sw_text_add(out, "set_queue_depth %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", port->queues[class_].most_packets,
                        number, class_);
    }
    add_queues(out, number, port);
    if (port->keeps_delay)
        sw_text_add(out, "port_delay %" PRIu32 " %" PRId64 "\n", number, port->delay_ns);
    if (port->ingress_delay_ns)
        sw_text_add(out, "port_ingress_delay %" PRIu32 " %" PRId64 "\n", number, port->ingress_delay_ns);
    if (!port->decodes_mac_control)
        sw_text_add(out, "port_mac_control %" PRIu32 " off\n", number);
    if (port->is_down)
        sw_text_add(out, "port_link %" PRIu32 " down\n", number);
}

/* The commands that repeat what commands have set, so that another switch can continue with the same ports. What `tc`
 * gave an interface is not among them: the other switch follows `tc` itself. */
int sw_do_show_port_settings(struct sw_command *command)
{
    for (uint32_t i = 0; i < SW_PORT_COUNT; i++) {
        const struct sw_port *port = &command->sw->target.tm.ports[i];

        if (port->has_device)
            add_port_settings(command->out, i, port);
    }
    return 0;
}

int sw_do_port_rate(struct sw_command *command)
{
    uint64_t rate_bps;
    uint32_t port;

    if (sw_read_port(command, &port) < 0 || sw_read_number(command, command->words[2], "rate", RATE_MAX, &rate_bps) < 0)
        return -1;
    return sw_command_check(command, sw_switch_set_rate(command->sw, port, rate_bps), "the port");
}

static int change_delay(struct sw_command *command, int (*set)(struct sw_switch *sw, uint32_t port, int64_t delay_ns))
{
    uint64_t delay_ns;
    uint32_t port;

    if (sw_read_port(command, &port) < 0 ||
        sw_read_number(command, command->words[2], "delay", DELAY_MAX, &delay_ns) < 0)
        return -1;
    return sw_command_check(command, set(command->sw, port, (int64_t)delay_ns), "the port");
}

int sw_do_port_delay(struct sw_command *command)
{
    return change_delay(command, sw_switch_set_delay);
}

int sw_do_port_ingress_delay(struct sw_command *command)
{
    return change_delay(command, sw_switch_set_ingress_delay);
}

int sw_do_port_mac_control(struct sw_command *command)
{
    uint32_t port;
    bool is_on;

    if (sw_read_port(command, &port) < 0 || sw_read_either(command, command->words[2], "on", "off", &is_on) < 0)
        return -1;
    command->sw->target.tm.ports[port].decodes_mac_control = is_on;
    return 0;
}

int sw_do_port_link(struct sw_command *command)
{
    uint32_t port;
    bool is_up;

    if (sw_read_port(command, &port) < 0 || sw_read_either(command, command->words[2], "up", "down", &is_up) < 0)
        return -1;
    return sw_command_check(command, sw_switch_set_link(command->sw, port, is_up), "the port");
}

/* Reads a number that must not be 0. */
static int read_positive(struct sw_command *command, const char *word, const char *what, uint64_t max, uint64_t *number)
{
    if (sw_read_number(command, word, what, max, number) < 0)
        return -1;
    return *number ? 0 : sw_command_fail(command, "%s '%s' is below 1", what, word);
}

int sw_do_port_queues(struct sw_command *command)
{
    uint64_t priority, count, quantum_bytes;
    uint32_t port;

    if (sw_read_port(command, &port) < 0 ||
        sw_read_number(command, command->words[2], "priority", SW_CLASS_COUNT - 1, &priority) < 0 ||
        read_positive(command, command->words[3], "count", SW_ROUND_MAX_QUEUES, &count) < 0 ||
        read_positive(command, command->words[4], "quantum", UINT32_MAX, &quantum_bytes) < 0)
        return -1;
    return sw_command_check(
        command, sw_switch_set_queues(command->sw, port, (uint32_t)priority, (uint32_t)count, (uint32_t)quantum_bytes),
        "the port");
}

int sw_do_memory_limit(struct sw_command *command)
{
    uint64_t limit_bytes;

    if (sw_read_number(command, command->words[1], "limit", INT64_MAX, &limit_bytes) < 0)
        return -1;
    command->sw->target.pool.limit_bytes = limit_bytes;
    return 0;
}

/* Calls `set` for the port in words[2], or for each port with a device. */
static int for_ports(struct sw_command *command, int (*set)(struct sw_switch *sw, uint32_t port, uint64_t number),
                     uint64_t number)
{
    uint32_t port;

    if (command->n_words > 2) {
        if (read_device_port(command, command->words[2], &port) < 0)
            return -1;
        return sw_command_check(command, set(command->sw, port, number), "the port");
    }
    for (port = 0; port < SW_PORT_COUNT; port++) {
        if (command->sw->target.tm.ports[port].has_device)
            set(command->sw, port, number);
    }
    return 0;
}

static int set_depth(struct sw_switch *sw, uint32_t port, uint64_t packets)
{
    return sw_switch_set_depth(sw, port, (uint32_t)packets);
}

/* set_queue_depth PACKETS [PORT [PRIORITY]], as in BMv2. */
int sw_do_set_queue_depth(struct sw_command *command)
{
    uint64_t packets, priority;
    struct sw_port *port;
    uint32_t number;

    if (sw_read_number(command, command->words[1], "depth", SW_ANY_DEPTH - 1, &packets) < 0)
        return -1;
    if (command->n_words < 4)
        return for_ports(command, set_depth, packets);
    if (read_device_port(command, command->words[2], &number) < 0 ||
        sw_read_number(command, command->words[3], "priority", SW_CLASS_COUNT - 1, &priority) < 0)
        return -1;
    port = &command->sw->target.tm.ports[number];
    port->queues[priority].most_packets = (uint32_t)packets;
    port->keeps_depth = true;
    return 0;
}

/* set_queue_rate PACKETS_PER_S [PORT]: as in BMv2 each packet takes 1/rate s, but all priorities share the wire. */
int sw_do_set_queue_rate(struct sw_command *command)
{
    uint64_t rate_pps;

    if (sw_read_number(command, command->words[1], "rate", PACKET_RATE_MAX, &rate_pps) < 0)
        return -1;
    if (command->n_words > 3)
        return sw_command_fail(command, "refused: the priorities of a port share one wire and have no rates of their "
                                        "own; use set_queue_rate PACKETS_PER_S PORT, or port_rate PORT BITS_PER_S");
    return for_ports(command, sw_switch_set_packet_rate, rate_pps);
}

int sw_do_get_time_elapsed(struct sw_command *command)
{
    sw_text_add(command->out, "%" PRIu64 "\n", sw_target_us(&command->sw->target));
    return 0;
}

int sw_do_statistics(struct sw_command *command)
{
    sw_switch_statistics(command->sw, command->out);
    return 0;
}
