/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The command that reads and removes the digests of a running switch. BMv2 sends them to a nanomsg socket; here they
 * wait until a command reads them.
 */
#include "control/commands.h"
#include "control/words/values.h"

static void print_digest(void *ctx, uint16_t digest, const uint8_t *bytes, uint32_t n_bytes)
{
    struct sw_command *command = ctx;
    const struct sw_digest_info *info = &command->program->digests[digest];

    (void)n_bytes;
    sw_text_add(command->out, "%s", info->name);
    for (uint32_t i = 0; i < info->n_fields; i++) {
        uint16_t field_bytes = (uint16_t)((info->fields[i].bits + 7u) / 8);

        sw_text_add(command->out, " %s=", info->fields[i].name);
        sw_print_value(command->out, bytes, field_bytes);
        bytes += field_bytes;
    }
    sw_text_add(command->out, "\n");
}

int sw_do_digest_read(struct sw_command *command)
{
    sw_digest_drain(command->pipeline, print_digest, command);
    return 0;
}
