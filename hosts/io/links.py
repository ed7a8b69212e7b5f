# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Configuration of interfaces in a thread's network namespace over netlink: pairs, addresses, routes, offloads.

Only IPv4 is supported, because the hosts of a live network have no IPv6 addresses.
"""

from __future__ import annotations

import errno
import os
import socket
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any

from pyroute2 import IPRoute
from pyroute2.ethtool.ioctl import EthtoolError, IoctlEthtool, NoSuchDevice
from pyroute2.netlink.exceptions import NetlinkError
from pyroute2.netlink.rtnl import rt_proto
from pyroute2.netlink.rtnl.ndmsg import NUD_PERMANENT

from sfc_testbed.wire.ethernet import ORDINARY_MTU_BYTES

_OFFLOADS = (
    "tx-checksumming",
    "rx-checksumming",
    "tcp-segmentation-offload",
    "generic-segmentation-offload",
    "generic-receive-offload",
)
_OUR_GROUP = 1
"""The link group of all pairs made here, so that one request removes them all.

Removing them one by one is slow, because the kernel waits for an RCU grace period each time.
"""
_MAIN_TABLE = 254
_IFF_UP = 0x1
_CARRIER_SECONDS = 10.0
_CARRIER_POLL_SECONDS = 0.001


@dataclass(frozen=True, slots=True)
class Route:
    """A route to a destination, which is "default" or an address with its prefix length.

    `protocol` is the kernel's number of the routing protocol that added the route.
    """

    destination: str
    gateway: str | None
    protocol: int = rt_proto["static"]


@dataclass(frozen=True, slots=True)
class Settings:
    """The IPv4 configuration of an interface; the fields are in the order in which they must be applied."""

    addresses: tuple[tuple[str, int], ...]
    """Addresses, each with the length of its prefix."""
    neighbours: tuple[tuple[str, str], ...]
    """Permanent neighbours, each with its IP address and its MAC address."""
    routes: tuple[Route, ...]
    """Routes, except routes that the kernel derives from addresses."""

    @classmethod
    def of_host(cls, ip: IPv4Address, gateway: IPv4Address, gateway_mac: str) -> Settings:
        """Return the settings of a host with a /32 address and a default route through a permanent neighbour.

        The host therefore needs no ARP.
        """
        return cls(((str(ip), 32),), ((str(gateway), gateway_mac),), (Route("default", str(gateway)),))


class Links:
    """A netlink socket, which stays in the namespace in which it was opened.

    Interfaces are identified by name. Methods raise an OSError whose text names the failed operation.

    pyroute2 runs an event loop for each request. A thread whose event loop is already running, as in a Jupyter
    notebook, cannot do that, so the requests run in a thread of their own.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)  # its thread starts in the namespace of this one
        try:
            self._netlink = self._thread.submit(IPRoute).result()
        except BaseException:
            self._thread.shutdown()
            raise

    def add_pair(
        self, name: str, peer: str, *, peer_pid: int | None = None, mtu_bytes: int = ORDINARY_MTU_BYTES
    ) -> None:
        """Add a veth pair: `name` in this namespace and up, `peer` down.

        `peer` is in the namespace of process `peer_pid`, or in this namespace without one.
        """
        peer_options: dict[str, Any] = {"ifname": peer, "mtu": mtu_bytes}
        if peer_pid is not None:
            peer_options["net_ns_pid"] = peer_pid
        options = {"ifname": name, "mtu": mtu_bytes, "group": _OUR_GROUP, "state": "up"}
        mtu_text = "" if mtu_bytes == ORDINARY_MTU_BYTES else f" at an MTU of {mtu_bytes} B"
        with _error_context(f"cannot join {name} and {peer}{mtu_text}"):
            self._request("link", "add", kind="veth", peer=peer_options, **options)

    def remove_pairs(self) -> None:
        """Remove all pairs that `add_pair` made in this namespace."""
        try:
            with _error_context("cannot remove the links"):
                self._request("link", "del", group=_OUR_GROUP)
        except OSError as error:
            if error.errno != errno.ENODEV:  # there is no pair to remove
                raise

    def set_up(self, name: str) -> None:
        self.set_state(name, up=True)

    def set_state(self, name: str, *, up: bool) -> None:
        state = "up" if up else "down"
        with _error_context(f"cannot bring {name} {state}"):
            self._request("link", "set", ifname=name, state=state)

    def is_up(self, name: str) -> bool:
        """Return whether an interface has been brought up."""
        return bool(self._link(name)["flags"] & _IFF_UP)

    def wait_for_carrier(self, name: str) -> None:
        """Wait until an interface sends: after both ends came up, the kernel silently drops its frames for a moment."""
        deadline_s = time.monotonic() + _CARRIER_SECONDS
        while self._link(name).get("operstate") != "UP":
            if time.monotonic() > deadline_s:
                raise OSError(errno.ETIMEDOUT, f"{name} has no carrier after {_CARRIER_SECONDS:g} s")
            time.sleep(_CARRIER_POLL_SECONDS)

    def mac(self, name: str) -> str:
        return str(self._link(name).get("address"))

    def set_mac(self, name: str, mac: str) -> None:
        with _error_context(f"cannot set the MAC address of {name}"):
            self._request("link", "set", ifname=name, address=mac)

    def mtu(self, name: str) -> int:
        return int(self._link(name).get("mtu"))

    def set_mtu(self, name: str, mtu_bytes: int) -> None:
        with _error_context(f"cannot set the MTU of {name}"):
            self._request("link", "set", ifname=name, mtu=mtu_bytes)

    def settings(self, name: str) -> Settings:
        """Return the addresses, permanent neighbours and routes of an interface."""
        index = self._link(name)["index"]
        with _error_context(f"cannot read the settings of {name}"):
            addresses = self._request("get_addr", family=socket.AF_INET, index=index)
            neighbours = self._request("get_neighbours", family=socket.AF_INET, ifindex=index)
            routes = self._request("get_routes", family=socket.AF_INET, table=_MAIN_TABLE, oif=index)
        return Settings(
            tuple((address.get("local"), address["prefixlen"]) for address in addresses),
            tuple(
                (neighbour.get("dst"), neighbour.get("lladdr"))
                for neighbour in neighbours
                if neighbour["state"] == NUD_PERMANENT
            ),
            tuple(_route(route) for route in routes if route["proto"] != rt_proto["kernel"]),
        )

    def give(self, name: str, settings: Settings) -> None:
        """Add settings to an interface that is up; gateways need not be in a subnet of the interface."""
        index = self._link(name)["index"]
        with _error_context(f"cannot address {name}"):
            for address, prefix_bits in settings.addresses:
                self._request("addr", "replace", index=index, address=address, prefixlen=prefix_bits)
            for address, mac in settings.neighbours:
                self._request("neigh", "replace", dst=address, lladdr=mac, ifindex=index, state=NUD_PERMANENT)
            for route in settings.routes:
                next_hop = {} if route.gateway is None else {"gateway": route.gateway, "flags": ["onlink"]}
                self._request("route", "replace", dst=route.destination, oif=index, proto=route.protocol, **next_hop)

    def flush_addresses(self, name: str) -> None:
        """Remove all addresses from an interface; the kernel then removes its routes too."""
        index = self._link(name)["index"]
        with _error_context(f"cannot flush {name}"):
            self._request("flush_addr", family=socket.AF_INET, index=index)

    def close(self) -> None:
        with self._thread:
            self._thread.submit(self._netlink.close).result()

    def __enter__(self) -> Links:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _request(self, method: str, *words: str, **options: Any) -> list[Any]:
        """Call a method of pyroute2 and return the answers."""
        return self._thread.submit(lambda: list(getattr(self._netlink, method)(*words, **options))).result()

    def _link(self, name: str) -> Any:
        with _error_context(f"cannot find {name}"):
            [link] = self._request("link", "get", ifname=name)
            return link


def turn_off_offloads(names: Sequence[str]) -> None:
    """Turn off offloads of interfaces in the current namespace.

    Without offloads, frames are not merged and their checksums are filled in.
    """
    with closing(IoctlEthtool()) as ethtool:
        for name in names:
            ethtool.change_ifname(name)
            for offload in _OFFLOADS:
                with _error_context(f"cannot turn off {offload} of {name}"):
                    ethtool.set_offload_flag(offload, 0)


def _route(message: Any) -> Route:
    destination = message.get("dst")
    name = "default" if destination is None else f"{destination}/{message['dst_len']}"
    return Route(name, message.get("gateway"), message["proto"])


@contextmanager
def _error_context(operation: str) -> Iterator[None]:
    """Turn exceptions of the body into an OSError whose text begins with `operation`."""
    try:
        yield
    except NetlinkError as error:
        raise OSError(error.code, f"{operation}: {error.args[-1]}") from error
    except EthtoolError as error:
        number = errno.ENODEV if isinstance(error, NoSuchDevice) else errno.EOPNOTSUPP
        raise OSError(number, f"{operation}: {os.strerror(number)}") from error
    except OSError as error:
        raise OSError(error.errno, f"{operation}: {error.strerror}") from error
