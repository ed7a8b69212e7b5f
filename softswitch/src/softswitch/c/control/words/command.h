/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * A running command: its words, the objects it works on, and its error handling.
 */
#ifndef SW_COMMAND_H
#define SW_COMMAND_H

#include "common/text.h"
#include "runtime/pipeline.h"

struct sw_switch;

struct sw_command {
    struct sw_switch *sw;
    const struct sw_program *program; /* the switch's program */
    struct sw_pipeline *pipeline;
    struct sw_text *out;
    char **words; /* [0] is the command itself */
    uint32_t n_words;
};

/* Replaces the command's output by a one-line error; always returns -1. */
int sw_command_fail(struct sw_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Turns a negative errno of the runtime into an error message about `what`; 0 stays 0. */
int sw_command_check(struct sw_command *command, int result, const char *what);

#endif /* SW_COMMAND_H */
