# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reports links of a live network whose interfaces other programs delete, move away or take down.

The kernel reports every change of an interface in this network namespace. A veth pair is deleted as a whole, so it is
enough to watch the end at the switch.
"""

from __future__ import annotations

import errno
import socket
import struct
from collections.abc import Iterator, Mapping

_RTMGRP_LINK = 1
_RTM_NEWLINK, _RTM_DELLINK = 16, 17
_IFLA_IFNAME = 3
_IFF_UP = 0x1
_HEADER = struct.Struct("=IHHII")
_INTERFACE = struct.Struct("=BxHiII")
_ATTRIBUTE = struct.Struct("=HH")
_LONGEST_BYTES = 1 << 16


class LinkWatch:
    """A netlink socket, which sees the changes from its creation on in the network namespace of this thread."""

    def __init__(self, links: Mapping[str, str]) -> None:
        """`links` maps the names of the watched interfaces to the names of their links."""
        self._links = links
        self._ours: set[str] = set()
        self._lost: dict[str, None] = {}
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.NETLINK_ROUTE)
        try:
            self._socket.bind((0, _RTMGRP_LINK))
        except OSError:
            self._socket.close()
            raise

    def allow(self, interface: str) -> None:
        """Report no longer that an interface is down: the testbed itself takes it down and up."""
        self._ours.add(interface)

    def troubles(self) -> list[str]:
        """Return one line for each link that was deleted, moved away or taken down since the start."""
        for interface, is_up in self._changes():
            if not is_up and interface in self._links and interface not in self._ours:
                self._lost[interface] = None
        return [
            f"link {self._links[interface]} was lost: {interface} was taken down, deleted or moved away"
            for interface in self._lost
        ]

    def close(self) -> None:
        self._socket.close()

    def _changes(self) -> Iterator[tuple[str, bool]]:
        """Yield the interface of each waiting message, and whether it is up."""
        while True:
            try:
                data = self._socket.recv(_LONGEST_BYTES)
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno != errno.ENOBUFS:  # after thousands of changes at a time, the kernel drops some
                    raise
                continue
            yield from _messages(data)


def _messages(data: bytes) -> Iterator[tuple[str, bool]]:
    while len(data) >= _HEADER.size:
        length, kind, *_ = _HEADER.unpack_from(data)
        body, data = data[_HEADER.size : length], data[_aligned(max(length, _HEADER.size)) :]
        if kind not in (_RTM_NEWLINK, _RTM_DELLINK) or len(body) < _INTERFACE.size:
            continue
        family, _, _, flags, _ = _INTERFACE.unpack_from(body)
        if family == socket.AF_UNSPEC:  # the messages of a bridge about its ports have the same type
            yield _name(body[_INTERFACE.size :]), kind == _RTM_NEWLINK and bool(flags & _IFF_UP)


def _name(attributes: bytes) -> str:
    while len(attributes) >= _ATTRIBUTE.size:
        length, kind = _ATTRIBUTE.unpack_from(attributes)
        if kind == _IFLA_IFNAME:
            return attributes[_ATTRIBUTE.size : length].rstrip(b"\0").decode(errors="replace")
        attributes = attributes[_aligned(max(length, _ATTRIBUTE.size)) :]
    return ""


def _aligned(length: int) -> int:
    return (length + 3) & ~3
