/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Commands that cut and restore a switch's power, and that stall and resume it.
 */
#include "control/commands.h"
#include "control/words/values.h"
#include "switch/switch_state.h"

#include <string.h>

#define RING_FRAMES 1024
#define RING_MOST_FRAMES (UINT64_C(1) << 24)

/* 1 if words[1] is `yes`, 0 if it is `no`, -1 after an error message otherwise. */
static int read_either(struct sw_command *command, const char *yes, const char *no)
{
    const char *word = command->words[1];

    if (strcmp(word, yes) == 0)
        return 1;
    if (strcmp(word, no) == 0)
        return 0;
    return sw_command_fail(command, "'%s' is neither '%s' nor '%s'", word, yes, no);
}

int sw_do_power(struct sw_command *command)
{
    int is_off = read_either(command, "off", "on");

    if (is_off < 0)
        return -1;
    if (is_off)
        return sw_command_check(command, sw_outage_power_off(command->sw), "the program's state");
    sw_outage_power_on(command->sw);
    return 0;
}

int sw_do_stall(struct sw_command *command)
{
    int is_on = read_either(command, "on", "off");
    uint64_t frames = RING_FRAMES;

    if (is_on < 0)
        return -1;
    if (command->n_words == 3 && sw_read_number(command, command->words[2], "frames", RING_MOST_FRAMES, &frames) < 0)
        return -1;
    if (is_on)
        sw_outage_stand_still(command->sw, (uint32_t)frames);
    else
        sw_outage_go_on(command->sw);
    return 0;
}
