/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The command that resets the program's state.
 */
#include "control/commands.h"
#include "switch/switch_state.h"

/* Like BMv2's: removes multicast groups, keeps mirroring sessions and ports. */
int sw_do_reset_state(struct sw_command *command)
{
    sw_shadow_forget(command->sw->shadow);
    sw_multicast_reset(&command->sw->target.replication);
    return sw_command_check(command, sw_pipeline_reset(command->pipeline), "the program's own entries");
}
