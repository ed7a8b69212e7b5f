/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "control/words/command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int sw_command_fail(struct sw_command *command, const char *format, ...)
{
    char message[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    sw_text_clear(command->out);
    sw_text_add(command->out, "%s: %s", command->words[0], message);
    return -1;
}

int sw_command_check(struct sw_command *command, int result, const char *what)
{
    switch (result) {
    case -EEXIST:
        return sw_command_fail(command, "%s exists already", what);
    case -ENOSPC:
        return sw_command_fail(command, "%s is full", what);
    case -ENOENT:
        return sw_command_fail(command, "%s does not exist", what);
    case -EPERM:
        return sw_command_fail(command, "%s is const in the program", what);
    case -EBUSY:
        return sw_command_fail(command, "%s is in use", what);
    case -EINVAL:
        return sw_command_fail(command, "%s is not valid here", what);
    case -ENOMEM:
        return sw_command_fail(command, "no memory for %s", what);
    default:
        return result < 0 ? sw_command_fail(command, "%s: %s", what, strerror(-result)) : 0;
    }
}
