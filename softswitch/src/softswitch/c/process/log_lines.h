/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Writes the lines of the packet log to standard output, with BMv2's prefix: time, name, level, thread.
 */
#ifndef SW_LOG_LINES_H
#define SW_LOG_LINES_H

#include "runtime/pipeline.h"

struct sw_log_lines {
    bool hides_trace; /* lines of the level trace are left out */
    bool flushes;     /* each line is written at once */
};

/* The sw_log_fn with a struct sw_log_lines as its context. */
void sw_log_lines_write(void *ctx, enum sw_log_level level, const char *line);

#endif /* SW_LOG_LINES_H */
