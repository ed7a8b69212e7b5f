# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A TAP device that takes the place of a host's interface: what its programs send comes here, not onto the wire.

The device gets the interface's MAC address, addresses, routes and permanent neighbours; the interface gets another MAC
address, so that the kernel takes nothing from it any more while a packet socket still sees every frame. A TAP device
has no offloads unless asked for: frames are whole and their checksums right.
"""

import errno
import fcntl
import json
import os
import struct
import subprocess
from contextlib import suppress
from typing import Any, NamedTuple

_TUNSETIFF = 0x400454CA
_IFF_TAP = 0x0002
_IFF_NO_PI = 0x1000
_REQUEST = struct.Struct("16sH22x")
_FRAME_BYTES = 9500
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
                frames.append(os.read(self._descriptor, _FRAME_BYTES))
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
    settings: tuple[str, ...]
    """Commands that give a device, to be filled in, its addresses, permanent neighbours and routes."""


def take_over(interface: str, tap: TapDevice) -> Takeover:
    """Put the device in the interface's place, both in the current namespace. Raises OSError."""
    (link,) = _show("link", "show", "dev", interface)
    taken = Takeover(interface, link["address"], tuple(_settings_of(interface)))
    other_mac = f"{int(taken.mac[:2], 16) ^ _OTHER_MAC_BIT:02x}{taken.mac[2:]}"
    _batch(
        f"address flush dev {interface}",
        f"link set dev {interface} address {other_mac}",
        f"link set dev {tap.name} address {taken.mac} mtu {link['mtu']} up",
        *(line.format(tap.name) for line in taken.settings),
    )
    return taken


def give_back(taken: Takeover) -> None:
    """Undo it, before the device is closed and in the same namespace. Raises OSError."""
    _batch(
        f"link set dev {taken.interface} address {taken.mac}",
        *(line.format(taken.interface) for line in taken.settings),
    )


def _settings_of(interface: str) -> list[str]:
    """See `Takeover.settings`."""
    addresses = [
        f"address replace {each['local']}/{each['prefixlen']} dev {{}}"
        for link in _show("-4", "address", "show", "dev", interface)
        for each in link.get("addr_info", ())
    ]
    neighbours = [
        f"neighbour replace {each['dst']} lladdr {each['lladdr']} nud permanent dev {{}}"
        for each in _show("-4", "neighbour", "show", "dev", interface, "nud", "permanent")
    ]
    routes = [
        f"route replace {each['dst']} {_gateway(each)} dev {{}}"
        for each in _show("-4", "route", "show", "dev", interface)
        if each.get("protocol") != "kernel"
    ]
    return addresses + neighbours + routes


def _gateway(route: dict[str, Any]) -> str:
    return f"via {route['gateway']} onlink" if "gateway" in route else ""


def _show(*arguments: str) -> list[dict[str, Any]]:
    """What `ip -json` says."""
    done = subprocess.run(["ip", "-json", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(errno.EINVAL, f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    rows: list[dict[str, Any]] = json.loads(done.stdout or "[]")
    return [row for row in rows if row]


def _batch(*lines: str) -> None:
    done = subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(errno.EINVAL, f"cannot set up the TAP device: {done.stderr.strip()}")
