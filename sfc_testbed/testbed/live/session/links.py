# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Takes links of a live network down and up: both ends change state, as when a cable is pulled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from sfc_testbed.hosts.io.links import Links
from sfc_testbed.hosts.io.namespaces import network_namespace
from sfc_testbed.testbed.errors import RunError, UsageError
from sfc_testbed.testbed.live.emulation import Emulation
from sfc_testbed.testbed.targets.common.interfaces import interface_of
from sfc_testbed.topologies.model import Link, Port, Topology


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

    A link that is up can carry frames when this returns. The host's addresses and routes are on its TAP device and are
    kept.
    """
    ends = sorted((link.a, link.b), key=lambda link_end: link_end.node not in emulation.topology.host)
    for end in ends:
        set_end(emulation, end, up=up)
    for end in ends if up else ():
        with _links_at(emulation, end) as links:
            links.wait_for_carrier(interface_of(emulation.topology, end))


def set_end(emulation: Emulation, end: Port, *, up: bool) -> None:
    """Bring the interface at one end of a link up or down."""
    emulation.allow_down(interface_of(emulation.topology, end))
    with _links_at(emulation, end) as links:
        links.set_state(interface_of(emulation.topology, end), up=up)


def is_up(emulation: Emulation, end: Port) -> bool:
    """Return whether an end of a link is up."""
    with _links_at(emulation, end) as links:
        return links.is_up(interface_of(emulation.topology, end))


@contextmanager
def _links_at(emulation: Emulation, end: Port) -> Iterator[Links]:
    """Provide access to the interfaces of the namespace that contains an end of a link. An OSError becomes RunError."""
    is_host = end.node in emulation.topology.host
    try:
        with network_namespace(emulation.host_pid(end.node)) if is_host else nullcontext(), Links() as links:
            yield links
    except OSError as error:
        raise RunError(f"cannot reach the link: {error.strerror}") from error
