# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Interfaces of the network namespace a thread is in, over netlink: pairs, addresses, neighbours, routes, offloads."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from ipaddress import IPv4Address

from pyroute2 import IPRoute
from pyroute2.ethtool.ioctl import IoctlEthtool
from pyroute2.netlink.exceptions import NetlinkError

_OFFLOADS = (
    "tx-checksumming",
    "rx-checksumming",
    "tcp-segmentation-offload",
    "generic-segmentation-offload",
    "generic-receive-offload",
)
_OUR_GROUP = 1
"""Of all pairs made here, so that one request removes them: one by one the kernel waits for its readers each time."""


class Links:
    """A netlink socket, which stays in the namespace it was made in. Interfaces are named; OSError says what failed."""

    def __init__(self) -> None:
        self._netlink = IPRoute()

    def add_pair(self, name: str, peer: str, *, mac: str | None = None, peer_pid: int | None = None) -> None:
        """Two joined interfaces: `name`, here and up; `peer`, down, here or where process `peer_pid` is."""
        options = {} if mac is None else {"address": mac}
        other = {"ifname": peer} if peer_pid is None else {"ifname": peer, "net_ns_pid": peer_pid}
        with _told(f"cannot join {name} and {peer}"):
            self._netlink.link("add", ifname=name, kind="veth", peer=other, group=_OUR_GROUP, state="up", **options)

    def remove_pairs(self) -> None:
        """All that `add_pair` made here."""
        try:
            with _told("cannot remove the links"):
                self._netlink.link("del", group=_OUR_GROUP)
        except OSError as error:
            if error.errno != errno.ENODEV:  # there is none
                raise

    def set_up(self, name: str, *, mac: str | None = None) -> None:
        """Brings an interface up, with this MAC address if one is given."""
        options = {} if mac is None else {"address": mac}
        with _told(f"cannot bring {name} up"):
            self._netlink.link("set", ifname=name, state="up", **options)

    def move(self, name: str, pid: int) -> None:
        """Gives an interface to the namespace of a process, where it is down."""
        with _told(f"cannot move {name}"):
            self._netlink.link("set", ifname=name, net_ns_pid=pid)

    def address_host(self, name: str, ip: IPv4Address, gateway: IPv4Address, gateway_mac: str) -> None:
        """One address without a network, one gateway as the way to everything, nothing to be learned by ARP."""
        with _told(f"cannot address {name}"):
            [link] = self._netlink.link("get", ifname=name)
            index = link["index"]
            self._netlink.addr("add", index=index, address=str(ip), prefixlen=32)
            self._netlink.neigh("replace", dst=str(gateway), lladdr=gateway_mac, ifindex=index, state="permanent")
            self._netlink.route("replace", dst="default", gateway=str(gateway), oif=index, flags=["onlink"])

    def close(self) -> None:
        self._netlink.close()

    def __enter__(self) -> Links:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def turn_off_offloads(names: Sequence[str]) -> None:
    """Of interfaces in the current namespace: frames are then whole, and their checksums right."""
    with closing(IoctlEthtool()) as ethtool:
        for name in names:
            ethtool.change_ifname(name)
            for offload in _OFFLOADS:
                with _told(f"cannot turn off {offload} of {name}"):
                    ethtool.set_offload_flag(offload, 0)


@contextmanager
def _told(what: str) -> Iterator[None]:
    try:
        yield
    except NetlinkError as error:
        raise OSError(error.code, f"{what}: {error.args[-1]}") from error
    except OSError as error:
        raise OSError(error.errno, f"{what}: {error.strerror}") from error
