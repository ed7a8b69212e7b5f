/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Reads the frames that wait at a device and hands them to the core, with the kernel's receive times.
 *
 * A turn of a device is bounded, so that a flood at one port does not hold up the others. As long as frames wait at a
 * device after its turn, the core does not run past the time of the last frame read, so that it sees the frames of all
 * ports in the order of their times even if the process is late. A device whose frames have waited too long is behind:
 * the core no longer waits for it, its turns are shorter, and its frames count as arriving when they are read. The
 * kernel drops what exceeds the device's buffer and counts it (kernel_drops).
 */
#ifndef SW_RECEPTION_H
#define SW_RECEPTION_H

#include "process/process_state.h"

/* Reads the clock in ns. */
int64_t sw_read_clock(clockid_t clock);

/* Gives a device its turn; returns the time up to which the core may run without missing later frames of this device.
 */
int64_t sw_reception_turn(struct sw_process *process, struct sw_process_device *device);

#endif /* SW_RECEPTION_H */
