/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Captures a port's frames in two pcap files, one per direction, with BMv2's file names. Separate threads write the
 * files, so that a slow disk delays no frame.
 */
#ifndef SW_PORT_CAPTURE_H
#define SW_PORT_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

enum sw_direction { SW_RECEIVED, SW_SENT, SW_DIRECTIONS };

struct sw_port_capture;

/* Creates (or empties) FOLDER/ADDRESS_in.pcap and FOLDER/ADDRESS_out.pcap. Returns NULL with one line in `error` on
 * failure. */
struct sw_port_capture *sw_port_capture_open(const char *folder, const char *address, char *error, size_t error_bytes);
void sw_port_capture_frame(struct sw_port_capture *capture, enum sw_direction direction, int64_t realtime_ns,
                           const uint8_t *frame, uint32_t length);
/* Waits until everything is written; returns 0 or the negative errno of the first failure. NULL is allowed. */
int sw_port_capture_close(struct sw_port_capture *capture);
/* Closes the capture of a switch that never ran, and removes its files. */
void sw_port_capture_drop(struct sw_port_capture *capture);

#endif /* SW_PORT_CAPTURE_H */
