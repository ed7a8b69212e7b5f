/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Writes bytes to a file from a thread of its own, so that a slow disk never holds up whoever has the bytes.
 */
#ifndef SW_TELEMETRY_WRITER_H
#define SW_TELEMETRY_WRITER_H

#include <stddef.h>

struct sw_writer;

/* Creates (or empties) the file; NULL with errno set. */
struct sw_writer *sw_writer_open(const char *path);
void sw_writer_append(struct sw_writer *writer, const void *bytes, size_t n_bytes);
/* Waits until everything is written; 0, or the negative errno of the first failure. */
int sw_writer_close(struct sw_writer *writer);

#endif /* SW_TELEMETRY_WRITER_H */
