/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The command that reports where and why packets were dropped.
 */
#include "control/commands.h"
#include "switch/switch_state.h"

#include <inttypes.h>

/* Prints REASON PORT [PLACE [BRANCH]], separated by tabs because places contain blanks. */
static void add_note(struct sw_text *out, const struct sw_drop_note *note)
{
    sw_text_add(out, "%s\t%" PRIu32, sw_drop_name(note->reason), note->port);
    if (note->at)
        sw_text_add(out, "\t%s", note->at);
    if (note->at && note->in)
        sw_text_add(out, "\t%s", note->in);
    sw_text_add(out, "\n");
}

/* Prints the latest drops since the last drops_read, oldest first. */
int sw_do_drops_read(struct sw_command *command)
{
    struct sw_target *target = &command->sw->target;
    uint64_t kept = target->n_drop_notes < SW_DROP_NOTES ? target->n_drop_notes : SW_DROP_NOTES;

    for (uint64_t i = target->n_drop_notes - kept; i < target->n_drop_notes; i++)
        add_note(command->out, &target->drop_notes[i % SW_DROP_NOTES]);
    target->n_drop_notes = 0;
    return 0;
}
