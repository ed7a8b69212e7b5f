/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The list of commands, and the execution of a command line.
 */
#include "control/control.h"

#include "control/commands.h"
#include "control/words/values.h"
#include "switch/switch_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n"
#define ENTRY "TABLE KEY... => "
#define CRC "CALCULATION POLYNOMIAL INITIAL_VALUE FINAL_XOR true|false true|false"
#define ANY_WORDS UINT32_MAX

struct command_row {
    const char *name;
    const char *usage;
    uint32_t min_words, max_words; /* without the command itself */
    int (*run)(struct sw_command *command);
};

static int help(struct sw_command *command);
static int at(struct sw_command *command);
static int at_clear(struct sw_command *command);
static int past(struct sw_command *command);

static const struct command_row commands[] = {
    {"help", "[COMMAND]", 0, 1, help},
    {"show_tables", "", 0, 0, sw_do_show_tables},
    {"show_actions", "", 0, 0, sw_do_show_actions},
    {"show_ports", "", 0, 0, sw_do_show_ports},
    {"show_port_settings", "", 0, 0, sw_do_show_port_settings},
    {"table_info", "TABLE", 1, 1, sw_do_table_info},
    {"table_add", "TABLE ACTION KEY... => PARAMETER... [PRIORITY]", 2, ANY_WORDS, sw_do_table_add},
    {"table_set_default", "TABLE ACTION PARAMETER...", 2, ANY_WORDS, sw_do_table_set_default},
    {"table_modify", "TABLE ACTION HANDLE [=>] PARAMETER...", 3, ANY_WORDS, sw_do_table_modify},
    {"table_delete", "TABLE HANDLE", 2, 2, sw_do_table_delete},
    {"table_clear", "TABLE", 1, 1, sw_do_table_clear},
    {"table_dump", "TABLE", 1, 1, sw_do_table_dump},
    {"table_ages", "TABLE", 1, 1, sw_do_table_ages},
    {"table_num_entries", "TABLE", 1, 1, sw_do_table_num_entries},
    {"table_indirect_add", ENTRY "MEMBER [PRIORITY]", 3, ANY_WORDS, sw_do_table_indirect_add},
    {"table_indirect_add_with_group", ENTRY "GROUP [PRIORITY]", 3, ANY_WORDS, sw_do_table_indirect_add_with_group},
    {"table_indirect_modify", "TABLE HANDLE MEMBER", 3, 3, sw_do_table_indirect_modify},
    {"table_indirect_modify_with_group", "TABLE HANDLE GROUP", 3, 3, sw_do_table_indirect_modify_with_group},
    {"table_indirect_delete", "TABLE HANDLE", 2, 2, sw_do_table_delete},
    {"table_indirect_set_default", "TABLE MEMBER", 2, 2, sw_do_table_indirect_set_default},
    {"table_indirect_set_default_with_group", "TABLE GROUP", 2, 2, sw_do_table_indirect_set_default_with_group},
    {"act_prof_create_member", "PROFILE ACTION PARAMETER...", 2, ANY_WORDS, sw_do_act_prof_create_member},
    {"act_prof_modify_member", "PROFILE ACTION MEMBER [=>] PARAMETER...", 3, ANY_WORDS, sw_do_act_prof_modify_member},
    {"act_prof_delete_member", "PROFILE MEMBER", 2, 2, sw_do_act_prof_delete_member},
    {"act_prof_create_group", "PROFILE", 1, 1, sw_do_act_prof_create_group},
    {"act_prof_delete_group", "PROFILE GROUP", 2, 2, sw_do_act_prof_delete_group},
    {"act_prof_add_member_to_group", "PROFILE MEMBER GROUP", 3, 3, sw_do_act_prof_add_member_to_group},
    {"act_prof_remove_member_from_group", "PROFILE MEMBER GROUP", 3, 3, sw_do_act_prof_remove_member_from_group},
    {"act_prof_dump", "PROFILE", 1, 1, sw_do_act_prof_dump},
    {"register_read", "REGISTER [INDEX]", 1, 2, sw_do_register_read},
    {"register_write", "REGISTER INDEX VALUE", 3, 3, sw_do_register_write},
    {"register_reset", "REGISTER", 1, 1, sw_do_register_reset},
    {"counter_read", "COUNTER INDEX", 2, 2, sw_do_counter_read},
    {"counter_write", "COUNTER INDEX PACKETS BYTES", 4, 4, sw_do_counter_write},
    {"counter_reset", "COUNTER", 1, 1, sw_do_counter_reset},
    {"meter_array_set_rates", "METER RATE:BURST...", 2, ANY_WORDS, sw_do_meter_array_set_rates},
    {"meter_set_rates", "METER INDEX RATE:BURST...", 3, ANY_WORDS, sw_do_meter_set_rates},
    {"meter_get_rates", "METER INDEX", 2, 2, sw_do_meter_get_rates},
    {"meter_clear_rates", "METER INDEX", 2, 2, sw_do_meter_clear_rates},
    {"set_crc16_parameters", CRC, 6, 6, sw_do_set_crc16_parameters},
    {"set_crc32_parameters", CRC, 6, 6, sw_do_set_crc32_parameters},
    {"show_pvs", "", 0, 0, sw_do_show_pvs},
    {"pvs_add", "VALUE_SET VALUE", 2, 2, sw_do_pvs_add},
    {"pvs_remove", "VALUE_SET VALUE", 2, 2, sw_do_pvs_remove},
    {"pvs_get", "VALUE_SET", 1, 1, sw_do_pvs_get},
    {"pvs_clear", "VALUE_SET", 1, 1, sw_do_pvs_clear},
    {"digest_read", "", 0, 0, sw_do_digest_read},
    {"drops_read", "", 0, 0, sw_do_drops_read},
    {"mirroring_add", "SESSION PORT [MOST_BYTES]", 2, 3, sw_do_mirroring_add},
    {"mirroring_add_mc", "SESSION GROUP [MOST_BYTES]", 2, 3, sw_do_mirroring_add_mc},
    {"mirroring_add_port_and_mgrp", "SESSION PORT GROUP [MOST_BYTES]", 3, 4, sw_do_mirroring_add_port_and_mgrp},
    {"mirroring_delay", "SESSION NS", 2, 2, sw_do_mirroring_delay},
    {"mirroring_delete", "SESSION", 1, 1, sw_do_mirroring_delete},
    {"mirroring_get", "SESSION", 1, 1, sw_do_mirroring_get},
    {"mc_mgrp_create", "GROUP", 1, 1, sw_do_mc_mgrp_create},
    {"mc_mgrp_destroy", "GROUP", 1, 1, sw_do_mc_mgrp_destroy},
    {"mc_node_create", "RID PORT... [| LAG...]", 1, ANY_WORDS, sw_do_mc_node_create},
    {"mc_node_update", "NODE PORT... [| LAG...]", 2, ANY_WORDS, sw_do_mc_node_update},
    {"mc_node_associate", "GROUP NODE", 2, 2, sw_do_mc_node_associate},
    {"mc_node_dissociate", "GROUP NODE", 2, 2, sw_do_mc_node_dissociate},
    {"mc_node_destroy", "NODE", 1, 1, sw_do_mc_node_destroy},
    {"mc_set_lag_membership", "LAG [PORT...]", 1, ANY_WORDS, sw_do_mc_set_lag_membership},
    {"mc_dump", "", 0, 0, sw_do_mc_dump},
    {"port_rate", "PORT BITS_PER_S", 2, 2, sw_do_port_rate},
    {"port_delay", "PORT NS", 2, 2, sw_do_port_delay},
    {"port_ingress_delay", "PORT NS", 2, 2, sw_do_port_ingress_delay},
    {"port_mac_control", "PORT on|off", 2, 2, sw_do_port_mac_control},
    {"port_queues", "PORT PRIORITY COUNT QUANTUM_BYTES", 4, 4, sw_do_port_queues},
    {"port_link", "PORT up|down", 2, 2, sw_do_port_link},
    {"port_impair", "PORT in|out KIND off|KEY=VALUE...", 4, 7, sw_do_port_impair},
    {"power", "off|on", 1, 1, sw_do_power},
    {"stall", "on|off [FRAMES]", 1, 2, sw_do_stall},
    {"past", "[LIFE COMMAND...]", 0, ANY_WORDS, past},
    {"at", "NS COMMAND...", 2, ANY_WORDS, at},
    {"at_clear", "", 0, 0, at_clear},
    {"memory_limit", "BYTES", 1, 1, sw_do_memory_limit},
    {"set_queue_depth", "PACKETS [PORT [PRIORITY]]", 1, 3, sw_do_set_queue_depth},
    {"set_queue_rate", "PACKETS_PER_S [PORT]", 1, 3, sw_do_set_queue_rate},
    {"reset_state", "", 0, 0, sw_do_reset_state},
    {"get_time_elapsed", "", 0, 0, sw_do_get_time_elapsed},
    {"statistics", "", 0, 0, sw_do_statistics},
};

#define N_COMMANDS (sizeof(commands) / sizeof(*commands))

static const struct command_row *find(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    }
    return NULL;
}

static int help(struct sw_command *command)
{
    const struct command_row *row;

    if (command->n_words == 1) {
        for (size_t i = 0; i < N_COMMANDS; i++)
            sw_text_add(command->out, "%s %s\n", commands[i].name, commands[i].usage);
        return 0;
    }
    row = find(command->words[1]);
    if (!row)
        return sw_command_fail(command, "no command '%s'", command->words[1]);
    sw_text_add(command->out, "%s %s\n", row->name, row->usage);
    return 0;
}

/* Finds the command that takes this number of words after its name; NULL after an error message. */
static const struct command_row *checked_row(struct sw_command *command, const char *name, uint32_t given)
{
    const struct command_row *row = find(name);

    if (!row) {
        sw_command_fail(command, "no such command, try 'help'");
        return NULL;
    }
    if (given < row->min_words || given > row->max_words) {
        sw_command_fail(command, "%" PRIu32 " words is too %s: %s %s", given, given < row->min_words ? "few" : "many",
                        row->name, row->usage);
        return NULL;
    }
    return row;
}

static int run(struct sw_command *command)
{
    const struct command_row *row = checked_row(command, command->words[0], command->n_words - 1);

    return row ? row->run(command) : -1;
}

/* Runs a planned command whose time has come. */
static int run_planned(struct sw_switch *sw, const char *line)
{
    struct sw_text answer = {0};
    int result = sw_control_execute(sw, line, &answer);

    sw_text_free(&answer);
    return result;
}

/* at NS COMMAND...: plans a command for a time since the epoch. If that time has passed, the command runs as soon as
 * the clock advances. */
static int at(struct sw_command *command)
{
    struct sw_text line = {0};
    uint64_t at_ns;
    int result;

    if (sw_read_number(command, command->words[1], "time", INT64_MAX / 2, &at_ns) < 0 ||
        !checked_row(command, command->words[2], command->n_words - 3))
        return -1;
    if (strcmp(command->words[2], command->words[0]) == 0)
        return sw_command_fail(command, "a planned command cannot plan another");
    for (uint32_t i = 2; i < command->n_words; i++)
        sw_text_add(&line, "%s%s", i > 2 ? " " : "", command->words[i]);
    result = sw_schedule_add(&command->sw->schedule, command->sw->target.epoch_ns + (int64_t)at_ns, run_planned,
                             sw_text_string(&line));
    sw_text_free(&line);
    return sw_command_check(command, result, "the schedule");
}

static int at_clear(struct sw_command *command)
{
    sw_schedule_clear(&command->sw->schedule);
    return 0;
}

/* past: prints the number of power losses; past LIFE COMMAND...: runs a read command on the program state that existed
 * before a power loss. */
static int past(struct sw_command *command)
{
    struct sw_command inner = *command;
    const struct command_row *row;
    uint64_t life;

    if (command->n_words == 1) {
        sw_text_add(command->out, "%" PRIu32 "\n", command->sw->outage.n_past);
        return 0;
    }
    if (sw_read_number(command, command->words[1], "life", UINT32_MAX, &life) < 0)
        return -1;
    inner.pipeline = sw_outage_past(command->sw, life);
    if (!inner.pipeline)
        return sw_command_fail(command, "no life '%s' was ended by a power loss", command->words[1]);
    if (command->n_words < 3)
        return sw_command_fail(command, "too few words: past LIFE COMMAND...");
    inner.words = command->words + 2;
    inner.n_words = command->n_words - 2;
    row = checked_row(command, inner.words[0], inner.n_words - 1);
    if (!row)
        return -1;
    if (row->run != sw_do_register_read && row->run != sw_do_counter_read)
        return sw_command_fail(command, "past: only register_read and counter_read are possible");
    return row->run(&inner);
}

/* Whether the rest of the line is a comment. p4-utils takes both beginnings. */
static bool starts_comment(const char *word)
{
    return word[0] == '#' || strncmp(word, "//", 2) == 0;
}

int sw_control_execute(struct sw_switch *sw, const char *line, struct sw_text *out)
{
    struct sw_command command = {.sw = sw, .program = sw->target.program, .pipeline = sw->target.pipeline, .out = out};
    char *copy = strdup(line), *state = NULL;
    int result = 0;

    sw_text_clear(out);
    sw_pipeline_set_time(command.pipeline, sw_target_us(&sw->target));
    command.words = malloc((strlen(line) / 2 + 2) * sizeof(*command.words));
    if (!copy || !command.words) {
        sw_text_add(out, "no memory");
        result = -1;
    } else {
        for (char *word = strtok_r(copy, BLANKS, &state); word && !starts_comment(word);
             word = strtok_r(NULL, BLANKS, &state))
            command.words[command.n_words++] = word;
        if (command.n_words)
            result = run(&command);
    }
    free(command.words);
    free(copy);
    while (out->length && out->bytes[out->length - 1] == '\n')
        out->bytes[--out->length] = '\0';
    return result;
}
