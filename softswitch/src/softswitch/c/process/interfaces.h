/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Follows the interfaces of the ports while the switch runs: another MTU or name, a link that goes down or up, and an
 * interface that is deleted (or moved away) and made again. Each change is reported in one line on stderr.
 */
#ifndef SW_INTERFACES_H
#define SW_INTERFACES_H

#include "process/process_state.h"

/* Opens process->link_fd, which is readable when an interface, or with --follow-links a queueing discipline, may have
 * changed. Call this before the interfaces are opened, so that no change is missed. Returns 0 or a negative errno. */
int sw_interfaces_watch(struct sw_process *process);

/* Notes the state of a device's interface at the start, and makes the receive slots large enough for its frames. */
void sw_interfaces_note(struct sw_process *process, struct sw_process_device *device, const char *name);

/* Reads the waiting messages of process->link_fd and follows the changes. Sets process->links_changed if the shape of a
 * link may be another. */
void sw_interfaces_follow(struct sw_process *process);

#endif /* SW_INTERFACES_H */
