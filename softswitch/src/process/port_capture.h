/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The frames of a port as two pcap files, one for each direction, under the names that BMv2 gives them. Written by
 * threads of their own, so that a slow disk holds up no frame.
 */
#ifndef SW_PORT_CAPTURE_H
#define SW_PORT_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

enum sw_direction { SW_RECEIVED, SW_SENT, SW_DIRECTIONS };

struct sw_port_capture;

/* Creates (or empties) FOLDER/ADDRESS_in.pcap and FOLDER/ADDRESS_out.pcap; NULL and one line in `error`. */
struct sw_port_capture *sw_port_capture_open(const char *folder, const char *address, char *error, size_t error_bytes);
void sw_port_capture_frame(struct sw_port_capture *capture, enum sw_direction direction, int64_t realtime_ns,
                           const uint8_t *frame, uint32_t length);
/* Waits until everything is written; 0, or the negative errno of the first failure. NULL is nothing to close. */
int sw_port_capture_close(struct sw_port_capture *capture);
/* The same for a switch that never ran: the files go. */
void sw_port_capture_drop(struct sw_port_capture *capture);

#endif /* SW_PORT_CAPTURE_H */
