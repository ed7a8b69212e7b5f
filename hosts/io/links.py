# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Interfaces of the network namespace a thread is in, over netlink: pairs, addresses, neighbours, routes, offloads.

IPv4 only: the kernels of a live network's hosts have nothing else.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any

from pyroute2 import IPRoute
from pyroute2.ethtool.ioctl import EthtoolError, IoctlEthtool, NoSuchDevice
from pyroute2.netlink.exceptions import NetlinkError
from pyroute2.netlink.rtnl import rt_proto
from pyroute2.netlink.rtnl.ndmsg import NUD_PERMANENT

from wire.ethernet import ORDINARY_MTU_BYTES

_OFFLOADS = (
    "tx-checksumming",
    "rx-checksumming",
    "tcp-segmentation-offload",
    "generic-segmentation-offload",
    "generic-receive-offload",
)
_OUR_GROUP = 1
"""Of all pairs made here, so that one request removes them: one by one the kernel waits for its readers each time."""
_MAIN_TABLE = 254
_IFF_UP = 0x1


@dataclass(frozen=True, slots=True)
class Route:
    """A way to a destination, "default" or an address with its prefix length. `made_by` is the kernel's number."""

    destination: str
    gateway: str | None
    made_by: int = rt_proto["static"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What an interface has besides its own properties, in the order in which it can be given to one."""

    addresses: tuple[tuple[str, int], ...]
    """Address and length of its prefix."""
    neighbours: tuple[tuple[str, str], ...]
    """Address and MAC address; permanent ones."""
    routes: tuple[Route, ...]
    """Without those that the kernel derives from addresses."""

    @classmethod
    def of_host(cls, ip: IPv4Address, gateway: IPv4Address, gateway_mac: str) -> Settings:
        """One address without a network, one gateway as the way to everything, nothing to be learned by ARP."""
        return cls(((str(ip), 32),), ((str(gateway), gateway_mac),), (Route("default", str(gateway)),))


class Links:
    """A netlink socket, which stays in the namespace it was made in. Interfaces are named; OSError says what failed."""

    def __init__(self) -> None:
        self._netlink = IPRoute()

    def add_pair(
        self, name: str, peer: str, *, peer_pid: int | None = None, mtu_bytes: int = ORDINARY_MTU_BYTES
    ) -> None:
        """Two joined interfaces: `name`, here and up; `peer`, down, here or where process `peer_pid` is."""
        other: dict[str, Any] = {"ifname": peer, "mtu": mtu_bytes}
        if peer_pid is not None:
            other["net_ns_pid"] = peer_pid
        own = {"ifname": name, "mtu": mtu_bytes, "group": _OUR_GROUP, "state": "up"}
        wish = "" if mtu_bytes == ORDINARY_MTU_BYTES else f" at an MTU of {mtu_bytes} B"
        with _told(f"cannot join {name} and {peer}{wish}"):
            self._netlink.link("add", kind="veth", peer=other, **own)

    def remove_pairs(self) -> None:
        """All that `add_pair` made here."""
        try:
            with _told("cannot remove the links"):
                self._netlink.link("del", group=_OUR_GROUP)
        except OSError as error:
            if error.errno != errno.ENODEV:  # there is none
                raise

    def set_up(self, name: str) -> None:
        """Brings an interface up."""
        self.set_state(name, up=True)

    def set_state(self, name: str, *, up: bool) -> None:
        """Brings an interface up or down."""
        state = "up" if up else "down"
        with _told(f"cannot bring {name} {state}"):
            self._netlink.link("set", ifname=name, state=state)

    def is_up(self, name: str) -> bool:
        """Whether an interface has been brought up."""
        return bool(self._link(name)["flags"] & _IFF_UP)

    def move(self, name: str, pid: int) -> None:
        """Gives an interface to the namespace of a process, where it is down."""
        with _told(f"cannot move {name}"):
            self._netlink.link("set", ifname=name, net_ns_pid=pid)

    def move_into(self, name: str, namespace: int) -> None:
        """Give an interface to the namespace of a descriptor, where it is down."""
        with _told(f"cannot move {name}"):
            self._netlink.link("set", ifname=name, net_ns_fd=namespace)

    def mac(self, name: str) -> str:
        """The MAC address of an interface."""
        mac: str = self._link(name).get("address")
        return mac

    def set_mac(self, name: str, mac: str) -> None:
        """Another MAC address."""
        with _told(f"cannot set the MAC address of {name}"):
            self._netlink.link("set", ifname=name, address=mac)

    def mtu(self, name: str) -> int:
        """The longest IP packet that an interface takes, in bytes."""
        mtu_bytes: int = self._link(name).get("mtu")
        return mtu_bytes

    def set_mtu(self, name: str, mtu_bytes: int) -> None:
        """Another one."""
        with _told(f"cannot set the MTU of {name}"):
            self._netlink.link("set", ifname=name, mtu=mtu_bytes)

    def settings(self, name: str) -> Settings:
        """What an interface has."""
        index = self._link(name)["index"]
        with _told(f"cannot look at {name}"):
            addresses = self._netlink.get_addr(family=socket.AF_INET, index=index)
            neighbours = self._netlink.get_neighbours(family=socket.AF_INET, ifindex=index)
            routes = self._netlink.get_routes(family=socket.AF_INET, table=_MAIN_TABLE, oif=index)
        return Settings(
            tuple((each.get("local"), each["prefixlen"]) for each in addresses),
            tuple((each.get("dst"), each.get("lladdr")) for each in neighbours if each["state"] == NUD_PERMANENT),
            tuple(_route(each) for each in routes if each["proto"] != rt_proto["kernel"]),
        )

    def give(self, name: str, settings: Settings) -> None:
        """Adds settings to an interface that is up; gateways need not be in a network of its."""
        index = self._link(name)["index"]
        with _told(f"cannot address {name}"):
            for address, prefix_bits in settings.addresses:
                self._netlink.addr("replace", index=index, address=address, prefixlen=prefix_bits)
            for address, mac in settings.neighbours:
                self._netlink.neigh("replace", dst=address, lladdr=mac, ifindex=index, state=NUD_PERMANENT)
            for route in settings.routes:
                way = {} if route.gateway is None else {"gateway": route.gateway, "flags": ["onlink"]}
                self._netlink.route("replace", dst=route.destination, oif=index, proto=route.made_by, **way)

    def flush_addresses(self, name: str) -> None:
        """Takes all addresses from an interface, and with the last of them its routes."""
        index = self._link(name)["index"]
        with _told(f"cannot flush {name}"):
            self._netlink.flush_addr(family=socket.AF_INET, index=index)

    def close(self) -> None:
        self._netlink.close()

    def __enter__(self) -> Links:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _link(self, name: str) -> Any:
        with _told(f"cannot find {name}"):
            [link] = self._netlink.link("get", ifname=name)
            return link


def turn_off_offloads(names: Sequence[str]) -> None:
    """Of interfaces in the current namespace: frames are then whole, and their checksums right."""
    with closing(IoctlEthtool()) as ethtool:
        for name in names:
            ethtool.change_ifname(name)
            for offload in _OFFLOADS:
                with _told(f"cannot turn off {offload} of {name}"):
                    ethtool.set_offload_flag(offload, 0)


def _route(message: Any) -> Route:
    destination = message.get("dst")
    name = "default" if destination is None else f"{destination}/{message['dst_len']}"
    return Route(name, message.get("gateway"), message["proto"])


@contextmanager
def _told(what: str) -> Iterator[None]:
    try:
        yield
    except NetlinkError as error:
        raise OSError(error.code, f"{what}: {error.args[-1]}") from error
    except EthtoolError as error:
        number = errno.ENODEV if isinstance(error, NoSuchDevice) else errno.EOPNOTSUPP
        raise OSError(number, f"{what}: {os.strerror(number)}") from error
    except OSError as error:
        raise OSError(error.errno, f"{what}: {error.strerror}") from error
