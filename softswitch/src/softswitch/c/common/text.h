/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * A growing line of text. When memory runs out, text is lost and `lost` is set.
 */
#ifndef SW_TEXT_H
#define SW_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct sw_text {
    char *bytes; /* always ends in NUL once something was added */
    size_t length, capacity;
    bool lost;
};

void sw_text_free(struct sw_text *text);
void sw_text_clear(struct sw_text *text);
void sw_text_add(struct sw_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sw_text_add_bytes(struct sw_text *text, const char *bytes, size_t length);

/* The text, "" when empty. */
const char *sw_text_string(const struct sw_text *text);

/* Writes a line for a terminal, with an escape for every byte that is not a visible ASCII character. */
void sw_text_print_line(FILE *stream, const char *line);

#endif /* SW_TEXT_H */
