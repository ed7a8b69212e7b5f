/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Control commands, one line of text each, with the names and the syntax of BMv2's simple_switch_CLI.
 */
#ifndef SW_CONTROL_H
#define SW_CONTROL_H

#include "switch/switch.h"

/* Runs one command and writes its output to `out` (cleared first). Returns 0, or -1 with a one-line error in `out`
 * instead. A blank line or a line that starts with # is ignored. */
int sw_control_execute(struct sw_switch *sw, const char *line, struct sw_text *out);

#endif /* SW_CONTROL_H */
