/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Writes bytes to a file from a separate thread, so that a slow disk never delays the caller.
 */
#ifndef SW_TELEMETRY_WRITER_H
#define SW_TELEMETRY_WRITER_H

#include <stddef.h>

struct sw_writer;

/* Creates (or empties) the file; returns NULL with errno set on error. */
struct sw_writer *sw_writer_open(const char *path);
void sw_writer_append(struct sw_writer *writer, const void *bytes, size_t n_bytes);
/* Waits until everything is written; returns 0 or the negative errno of the first failure. */
int sw_writer_close(struct sw_writer *writer);

#endif /* SW_TELEMETRY_WRITER_H */
