/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#define _GNU_SOURCE
#include "process/log_lines.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "common/text.h"

#define NS_PER_MS 1000000

void sw_log_lines_write(void *ctx, enum sw_log_level level, const char *line)
{
    const struct sw_log_lines *lines = ctx;
    struct timespec now;
    struct tm local;

    if (lines->hides_trace && level == SW_LOG_TRACE)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &local);
    printf("[%02d:%02d:%02d.%03ld] [bmv2] [%c] [thread %d] ", local.tm_hour, local.tm_min, local.tm_sec,
           now.tv_nsec / NS_PER_MS, level, gettid());
    sw_text_print_line(stdout, line);
    if (lines->flushes)
        fflush(stdout);
}
