/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * MAC control frames, which a port's MAC handles below the pipeline.
 */
#ifndef SW_MAC_CONTROL_H
#define SW_MAC_CONTROL_H

#include "v1model/target.h"

/* True if the frame was a MAC control frame (which is then released). A frame that pauses one queue is obeyed, but also
 * left to the program, which assigns packets to queues and must know which are paused: the result is false. */
bool sw_mac_control_receive(struct sw_target *target, struct sw_frame *frame);

#endif /* SW_MAC_CONTROL_H */
