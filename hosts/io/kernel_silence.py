# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Keeps a host's kernel from answering our UDP packets with ICMP "port unreachable"; ping and TCP stay as they are.

The kernel answers datagrams for which no socket is bound. So one is bound to each of our ports, with a filter that
drops every datagram before it is queued; the NIC gets its own copy through its packet socket.
"""

import socket

from hosts.io.socket_filter import DROP_ALL, attach_filter
from wire.constants import BTS_UDP_PORT, INT_UDP_PORT, ROCE_UDP_PORT

_SMALL_BUFFER_BYTES = 4096


def silence_kernel() -> list[socket.socket]:
    """Sockets that silence the current network namespace for as long as they stay open.

    Raises OSError (address in use) if another program serves one of the ports there.
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
