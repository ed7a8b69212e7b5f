/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Control commands over a Unix stream socket: a line of request is answered by the lines that the command prints, then
 * `OK` or `ERROR <text>`. Never blocks; whoever polls its descriptors calls it.
 */
#ifndef SW_CONTROL_SERVER_H
#define SW_CONTROL_SERVER_H

#include <stdint.h>

struct sw_switch;
struct sw_control_server;

/* Listens on `path` (a socket left there by a dead switch is replaced) and registers itself in `epoll_fd` with `tag` in
 * the event data's upper half. NULL with errno set. */
struct sw_control_server *sw_control_server_open(const char *path, struct sw_switch *sw, int epoll_fd, uint32_t tag);

/* Handles one event: `which` is the lower half of its data. */
void sw_control_server_handle(struct sw_control_server *server, uint32_t which, uint32_t events);

/* Closes all connections and removes the socket. */
void sw_control_server_close(struct sw_control_server *server);

#endif /* SW_CONTROL_SERVER_H */
