/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Control commands over a Unix stream socket. The answer to a line of request is the command's output, then `OK` or
 * `ERROR <text>`. The server never blocks; the process's event loop calls it.
 */
#ifndef SW_CONTROL_SERVER_H
#define SW_CONTROL_SERVER_H

#include <stdint.h>

struct sw_switch;
struct sw_control_server;

/* Listens on `path` (replacing the socket of a dead switch) unless it is NULL, serves the inherited socket `connection`
 * unless it is -1, and registers itself in `epoll_fd` with `tag` in the upper half of the event data. Returns NULL with
 * errno set on error. */
struct sw_control_server *sw_control_server_open(const char *path, int connection, struct sw_switch *sw, int epoll_fd,
                                                 uint32_t tag);

/* Handles one event: `which` is the lower half of its data. */
void sw_control_server_handle(struct sw_control_server *server, uint32_t which, uint32_t events);

/* Closes all connections and removes the socket. */
void sw_control_server_close(struct sw_control_server *server);

#endif /* SW_CONTROL_SERVER_H */
