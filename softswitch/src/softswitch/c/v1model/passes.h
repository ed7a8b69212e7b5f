/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Runs one pass of a packet, and all its consequences at the same instant.
 */
#ifndef SW_PASSES_H
#define SW_PASSES_H

#include "v1model/target.h"

/* Runs ingress; takes ownership of the frame. */
void sw_v1model_ingress(struct sw_target *target, struct sw_frame *frame);

/* Puts the first delayed copy into its queue; there must be one. */
void sw_v1model_copy(struct sw_target *target);

/* Starts the packet that the port's queues are ready to start, if any. */
void sw_v1model_egress(struct sw_target *target, uint32_t port);

#endif /* SW_PASSES_H */
