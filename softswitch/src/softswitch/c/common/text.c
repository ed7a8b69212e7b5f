/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "common/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sw_text_free(struct sw_text *text)
{
    free(text->bytes);
    *text = (struct sw_text){0};
}

void sw_text_clear(struct sw_text *text)
{
    text->length = 0;
    text->lost = false;
    if (text->bytes)
        text->bytes[0] = '\0';
}

static bool reserve(struct sw_text *text, size_t more)
{
    size_t capacity = text->capacity ? text->capacity : 256;
    char *bytes;

    if (text->length + more + 1 <= text->capacity)
        return true;
    while (capacity < text->length + more + 1)
        capacity *= 2;
    bytes = realloc(text->bytes, capacity);
    if (!bytes) {
        text->lost = true;
        return false;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

void sw_text_add_bytes(struct sw_text *text, const char *bytes, size_t length)
{
    if (!reserve(text, length))
        return;
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void sw_text_add(struct sw_text *text, const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0 || !reserve(text, (size_t)length))
        return;
    va_start(arguments, format);
    vsnprintf(text->bytes + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

void sw_text_print_line(FILE *stream, const char *line)
{
    for (const unsigned char *byte = (const unsigned char *)line; *byte; byte++)
        if (*byte < ' ' || *byte > '~')
            fprintf(stream, "\\x%02x", *byte);
        else
            fputc(*byte, stream);
    fputc('\n', stream);
}

const char *sw_text_string(const struct sw_text *text)
{
    return text->length ? text->bytes : "";
}
