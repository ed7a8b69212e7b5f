# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A TAP device that takes the place of a host's interface: what its programs send comes here, not onto the wire.

The device gets the interface's MAC address, addresses, routes and permanent neighbours; the interface gets another MAC
address, so that the kernel takes nothing from it any more while a packet socket still sees every frame. A TAP device
has no offloads unless asked for: frames are whole and their checksums right.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from wire.ethernet import LONGEST_FRAME_BYTES

if TYPE_CHECKING:
    from hosts.io.links import Settings

_TUNSETIFF = 0x400454CA
_IFF_TAP = 0x0002
_IFF_NO_PI = 0x1000
_REQUEST = struct.Struct("16sH22x")
_BURST = 64
_OTHER_MAC_BIT = 0x40
"""Flipped in the first byte of the interface's MAC address: unicast and locally administered stay as they are."""


class TapDevice:
    """Made in the current network namespace; usable from any. It is gone when closed."""

    def __init__(self, name: str) -> None:
        """Raises OSError if there is no /dev/net/tun, it is forbidden, or the name is taken."""
        self.name = name
        self.refused = 0
        """Frames the kernel would not take."""
        self._descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            fcntl.ioctl(self._descriptor, _TUNSETIFF, _REQUEST.pack(name.encode(), _IFF_TAP | _IFF_NO_PI))
        except OSError:
            os.close(self._descriptor)
            raise

    def fileno(self) -> int:
        """For epoll."""
        return self._descriptor

    def receive(self) -> list[bytes]:
        """Up to a burst of frames that programs have sent."""
        frames: list[bytes] = []
        with suppress(BlockingIOError):
            for _ in range(_BURST):
                frames.append(os.read(self._descriptor, LONGEST_FRAME_BYTES))
        return frames

    def send(self, frame: bytes) -> None:
        """Give programs a frame; counted if the kernel has no room or the device is down."""
        try:
            os.write(self._descriptor, frame)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.ENOBUFS, errno.EIO, errno.EINVAL):
                raise
            self.refused += 1

    def close(self) -> None:
        """Remove the device."""
        os.close(self._descriptor)


class Takeover(NamedTuple):
    """What an interface was before a TAP device took its place."""

    interface: str
    mac: str
    settings: Settings


def take_over(interface: str, tap: TapDevice) -> Takeover:
    """Put the device in the interface's place, both in the current namespace. Raises OSError."""
    from hosts.io.links import Links  # pyroute2 is slow to load, and only unmodified programs want it

    with Links() as links:
        taken = Takeover(interface, links.mac(interface), links.settings(interface))
        links.flush_addresses(interface)
        links.set_mac(interface, f"{int(taken.mac[:2], 16) ^ _OTHER_MAC_BIT:02x}{taken.mac[2:]}")
        links.set_mac(tap.name, taken.mac)
        links.set_mtu(tap.name, links.mtu(interface))
        links.set_up(tap.name)
        links.give(tap.name, taken.settings)
    return taken


def give_back(taken: Takeover) -> None:
    """Undo it, before the device is closed and in the same namespace. Raises OSError."""
    from hosts.io.links import Links

    with Links() as links:
        links.set_mac(taken.interface, taken.mac)
        links.give(taken.interface, taken.settings)
