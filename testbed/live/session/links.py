# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Takes links of a live network down and up: both ends change state, as when a cable is pulled."""

from __future__ import annotations

from hosts.io.links import Links
from hosts.io.namespaces import network_namespace
from testbed.errors import RunError, UsageError
from testbed.live.emulation import Emulation
from testbed.targets.common.interfaces import interface_of
from topologies.model import Link, Port, Topology


def links_between(topology: Topology, a: str, b: str) -> list[Link]:
    """Return all links between two nodes. Raises UsageError if there is none."""
    for name in (a, b):
        if name not in topology.host and name not in topology.switch:
            raise UsageError(f"no node {name!r} in this network")
    links = [link for link in topology.links if {link.a.node, link.b.node} == {a, b}]
    if not links:
        raise UsageError(f"{a} and {b} are not linked")
    return links


def set_link(emulation: Emulation, link: Link, *, up: bool) -> None:
    """Set the state of both ends of a link, the host's end first, so that the host counts what it loses from then on.

    The host's addresses and routes are on its TAP device and are kept.
    """
    for end in sorted((link.a, link.b), key=lambda link_end: not _is_host(emulation, link_end)):
        set_end(emulation, end, up=up)


def set_end(emulation: Emulation, end: Port, *, up: bool) -> None:
    """Bring the interface at one end of a link up or down."""
    interface = interface_of(emulation.topology, end)
    try:
        if _is_host(emulation, end):
            with network_namespace(emulation.host_pid(end.node)), Links() as links:
                links.set_state(interface, up=up)
        else:
            with Links() as links:
                links.set_state(interface, up=up)
    except OSError as error:
        raise RunError(f"cannot change the link: {error.strerror}") from error


def is_up(emulation: Emulation, end: Port) -> bool:
    """Return whether an end of a link is up."""
    interface = interface_of(emulation.topology, end)
    if _is_host(emulation, end):
        with network_namespace(emulation.host_pid(end.node)), Links() as links:
            return links.is_up(interface)
    with Links() as links:
        return links.is_up(interface)


def _is_host(emulation: Emulation, end: Port) -> bool:
    return end.node in emulation.topology.host
