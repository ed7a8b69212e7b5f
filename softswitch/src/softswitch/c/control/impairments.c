/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The commands that impair a port's link:
 *
 *   port_impair PORT in|out KIND off
 *   port_impair PORT in|out KIND KEY=VALUE...
 *
 * `out` affects frames that leave by the port, `in` frames that arrive. Every kind takes rate_ppb, the share of frames
 * in 10^-9, and seed; jitter and reorder take time_ns, udp_loss takes udp_port. Missing values are 0.
 */
#include "control/commands.h"
#include "control/words/values.h"
#include "switch/switch.h"

#include <string.h>

#define TIME_MAX UINT64_C(1000000000000000)

static const char *const kind_names[SW_IMPAIRMENT_COUNT] = {
    [SW_IMPAIRMENT_LOSS] = "loss",           [SW_IMPAIRMENT_UDP_LOSS] = "udp_loss", [SW_IMPAIRMENT_CORRUPT] = "corrupt",
    [SW_IMPAIRMENT_DUPLICATE] = "duplicate", [SW_IMPAIRMENT_JITTER] = "jitter",     [SW_IMPAIRMENT_REORDER] = "reorder",
};

/* The number of the kind, or -1. */
static int read_kind(struct sw_command *command, const char *word)
{
    for (int i = 0; i < SW_IMPAIRMENT_COUNT; i++) {
        if (strcmp(word, kind_names[i]) == 0)
            return i;
    }
    return sw_command_fail(command,
                           "unknown kind '%s'; choose from loss, udp_loss, corrupt, duplicate, jitter, reorder", word);
}

/* True if the word is KEY=...; `*value` is the text after the equals sign. */
static bool is_key(const char *word, const char *key, const char **value)
{
    size_t length = strlen(key);

    *value = word + length + 1;
    return strncmp(word, key, length) == 0 && word[length] == '=';
}

static int read_setting(struct sw_command *command, const char *word, struct sw_impairment *impairment)
{
    uint64_t number;
    const char *value;

    if (is_key(word, "seed", &value))
        return sw_read_number(command, value, "seed", UINT64_MAX, &impairment->random);
    if (is_key(word, "rate_ppb", &value))
        return sw_read_u32(command, value, "rate_ppb", SW_IMPAIRMENT_ALWAYS_PPB, &impairment->rate_ppb);
    if (is_key(word, "time_ns", &value)) {
        if (sw_read_number(command, value, "time_ns", TIME_MAX, &number) < 0)
            return -1;
        impairment->time_ns = (int64_t)number;
    } else if (is_key(word, "udp_port", &value)) {
        if (sw_read_number(command, value, "udp_port", UINT16_MAX, &number) < 0)
            return -1;
        impairment->udp_port = (uint16_t)number;
    } else {
        return sw_command_fail(command, "'%s' is not rate_ppb=, seed=, time_ns= or udp_port= and a number", word);
    }
    return 0;
}

int sw_do_port_impair(struct sw_command *command)
{
    struct sw_impairment impairment = {0};
    uint32_t port;
    bool is_in;
    int kind;

    if (sw_read_port(command, &port) < 0 || sw_read_either(command, command->words[2], "in", "out", &is_in) < 0)
        return -1;
    kind = read_kind(command, command->words[3]);
    if (kind < 0)
        return -1;
    for (uint32_t i = 4; i < command->n_words && strcmp(command->words[4], "off") != 0; i++) {
        if (read_setting(command, command->words[i], &impairment) < 0)
            return -1;
    }
    return sw_command_check(
        command, sw_switch_set_impairment(command->sw, port, !is_in, (enum sw_impairment_kind)kind, &impairment),
        "the port");
}
