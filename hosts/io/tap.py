# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A TAP device that replaces a host's interface, so that frames of the host's programs go to the NIC.

The device gets the interface's MAC address, addresses, routes and permanent neighbours. The interface gets another MAC
address, so that the kernel ignores its frames while a packet socket still receives all of them. A TAP device has no
offloads by default, so frames are not merged and their checksums are filled in.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from sfc_testbed.wire.ethernet import LONGEST_FRAME_BYTES

if TYPE_CHECKING:
    from sfc_testbed.hosts.io.links import Settings

_TUNSETIFF = 0x400454CA
_IFF_TAP = 0x0002
_IFF_NO_PI = 0x1000
_REQUEST = struct.Struct("16sH22x")
_BURST = 64
_OTHER_MAC_BIT = 0x40
"""The bit to flip in the first byte of the interface's MAC address.

It differs from the bits that mark multicast and locally administered addresses.
"""


class TapDevice:
    """A TAP device that is made in the current network namespace, can be used from any, and is removed when closed."""

    def __init__(self, name: str) -> None:
        """Create the device.

        Raises OSError if /dev/net/tun is missing or access is forbidden, or if the name is already in use.
        """
        self.name = name
        self.refused = 0
        """Frames that the kernel refused."""
        self._descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            fcntl.ioctl(self._descriptor, _TUNSETIFF, _REQUEST.pack(name.encode(), _IFF_TAP | _IFF_NO_PI))
        except OSError:
            os.close(self._descriptor)
            raise

    def fileno(self) -> int:
        """Return the descriptor, for epoll."""
        return self._descriptor

    def receive(self) -> list[bytes]:
        """Return up to a burst of frames that programs have sent."""
        frames: list[bytes] = []
        with suppress(BlockingIOError):
            for _ in range(_BURST):
                frames.append(os.read(self._descriptor, LONGEST_FRAME_BYTES))
        return frames

    def send(self, frame: bytes) -> None:
        """Deliver a frame to the programs; it counts as refused if the kernel has no room or the device is down."""
        try:
            os.write(self._descriptor, frame)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.ENOBUFS, errno.EIO, errno.EINVAL):
                raise
            self.refused += 1

    def close(self) -> None:
        """Remove the device."""
        os.close(self._descriptor)


class ReplacedInterface(NamedTuple):
    """The state of an interface before a TAP device replaced it."""

    interface: str
    mac: str
    settings: Settings


def replace_interface(interface: str, tap: TapDevice) -> ReplacedInterface:
    """Replace the interface by the device, both in the current namespace. Raises OSError."""
    from sfc_testbed.hosts.io.links import (
        Links,  # pyroute2 is slow to load, and only runs with unmodified programs need it
    )

    with Links() as links:
        original = ReplacedInterface(interface, links.mac(interface), links.settings(interface))
        links.flush_addresses(interface)
        links.set_mac(interface, f"{int(original.mac[:2], 16) ^ _OTHER_MAC_BIT:02x}{original.mac[2:]}")
        links.set_mac(tap.name, original.mac)
        links.set_mtu(tap.name, links.mtu(interface))
        links.set_up(tap.name)
        links.give(tap.name, original.settings)
    return original


def restore_interface(original: ReplacedInterface) -> None:
    """Give an interface its settings back, in the same namespace and before the device is closed. Raises OSError."""
    from sfc_testbed.hosts.io.links import Links

    with Links() as links:
        links.set_mac(original.interface, original.mac)
        links.give(original.interface, original.settings)
