/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Commands that cut and restore a switch's power, and that stall and resume it.
 */
#include "control/commands.h"
#include "control/words/values.h"
#include "switch/switch_state.h"

#define RING_FRAMES 1024
#define RING_MOST_FRAMES (UINT32_C(1) << 24)

int sw_do_power(struct sw_command *command)
{
    bool is_off;

    if (sw_read_either(command, command->words[1], "off", "on", &is_off) < 0)
        return -1;
    if (is_off)
        return sw_command_check(command, sw_outage_power_off(command->sw), "the program's state");
    sw_outage_power_on(command->sw);
    return 0;
}

int sw_do_stall(struct sw_command *command)
{
    uint32_t frames = RING_FRAMES;
    bool is_on;

    if (sw_read_either(command, command->words[1], "on", "off", &is_on) < 0)
        return -1;
    if (command->n_words == 3 && sw_read_u32(command, command->words[2], "frames", RING_MOST_FRAMES, &frames) < 0)
        return -1;
    if (is_on)
        sw_outage_stand_still(command->sw, frames);
    else
        sw_outage_go_on(command->sw);
    return 0;
}
