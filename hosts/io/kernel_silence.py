# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Suppression of ICMP "port unreachable" answers to the testbed's UDP packets; ping and TCP are unaffected.

The kernel sends this answer to datagrams for which no socket is bound. This module therefore binds a socket to each of
the testbed's ports, with a filter that drops every datagram before it is queued. The NIC gets its own copy of each
frame through its packet socket.
"""

import socket

from hosts.io.socket_filter import DROP_ALL, attach_filter
from wire.constants import BTS_UDP_PORT, INT_UDP_PORT, ROCE_UDP_PORT

_SMALL_BUFFER_BYTES = 4096


def silence_kernel() -> list[socket.socket]:
    """Return sockets that suppress the answers in the current network namespace while they stay open.

    Raises OSError (address in use) if another program in the namespace uses one of the ports.
    """
    sockets: list[socket.socket] = []
    try:
        for port in (ROCE_UDP_PORT, INT_UDP_PORT, BTS_UDP_PORT):
            sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sockets.append(sock)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL_BUFFER_BYTES)
            attach_filter(sock, DROP_ALL)
            sock.bind(("", port))
    except OSError:
        for sock in sockets:
            sock.close()
        raise
    return sockets
