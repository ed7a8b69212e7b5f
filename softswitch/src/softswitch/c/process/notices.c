/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "process/notices.h"

#include "common/text.h"
#include "process/process_state.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static void print(const struct sw_process_device *device, const char *format, va_list values)
{
    char line[512];
    int begin = snprintf(line, sizeof(line), "softswitch: port %" PRIu32 " (%s): ", device->port, device->name);

    if (begin < 0 || (size_t)begin >= sizeof(line))
        return;
    vsnprintf(line + begin, sizeof(line) - (size_t)begin, format, values);
    sw_text_print_line(stderr, line);
}

void sw_notice(const struct sw_process_device *device, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    print(device, format, values);
    va_end(values);
}

void sw_notice_once(struct sw_process_device *device, enum sw_notice notice, const char *format, ...)
{
    va_list values;

    if (device->noticed & notice)
        return;
    device->noticed |= notice;
    va_start(values, format);
    print(device, format, values);
    va_end(values);
}
