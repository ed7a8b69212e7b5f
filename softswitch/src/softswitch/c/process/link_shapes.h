/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Reads the rate and delay that `tc` (for example Mininet's TCLink) gave to the interfaces of the switch's ports. The
 * frames of a switch bypass the queueing disciplines, so the switch must apply rate and delay itself.
 */
#ifndef SW_LINK_SHAPES_H
#define SW_LINK_SHAPES_H

#include "switch/switch.h"

/* Reads the shape of an interface, by its index; without queueing disciplines of a known kind, no limit and no delay.
 * Returns 0 or a negative errno. */
int sw_link_shape_read(unsigned index, struct sw_link_shape *shape);

#endif /* SW_LINK_SHAPES_H */
