/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * MAC control frames, which a port's MAC handles below the pipeline.
 */
#ifndef SW_MAC_CONTROL_H
#define SW_MAC_CONTROL_H

#include "v1model/target.h"

/* True if the frame was a MAC control frame (which is then released). False also for a pause of one queue of several:
 * it is obeyed, but left to the program, which assigns packets to queues and must know which are paused. */
bool sw_mac_control_receive(struct sw_target *target, struct sw_frame *frame);

#endif /* SW_MAC_CONTROL_H */
