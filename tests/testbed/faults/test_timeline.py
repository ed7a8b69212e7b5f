# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Faults as commands: which switch is told what, and when."""

from __future__ import annotations

from scenarios.faults.spec import parse_faults
from testbed.faults.timeline import PlannedCommand, fault_commands
from topologies.shapes import shape
from wire.dilation import Dilation

CLOS = shape("clos", {"hosts_per_tor": 1}).build()


def _planned(*texts: str) -> list[PlannedCommand]:
    return list(fault_commands(CLOS, parse_faults(texts, CLOS), Dilation()))


def _links(*texts: str) -> list[tuple[int, str, str]]:
    return [(each.time_ns, each.switch, each.line) for each in _planned(*texts) if each.line.startswith("port_link")]


def test_without_faults_nothing_is_planned() -> None:
    """A run without faults is as it was."""
    assert _planned() == []


def test_both_ends_of_a_link_change_at_once() -> None:
    """A cable is pulled at both ends."""
    assert _links("link:tor1-spine1,down=200us,up=500us") == [
        (200_000, "tor1", "port_link 2 down"),
        (200_000, "spine1", "port_link 1 down"),
        (500_000, "tor1", "port_link 2 up"),
        (500_000, "spine1", "port_link 1 up"),
    ]


def test_a_hosts_link_is_its_switchs_port() -> None:
    """The switch's port models both directions of a host's link."""
    assert _links("link:h1-tor1,down=1us") == [(1_000, "tor1", "port_link 1 down")]


def test_routes_change_after_the_detection_delay() -> None:
    """Both when the link dies and when it is back, and on every switch that used it."""
    planned = _planned("link:tor1-spine1,down=200us,up=500us,detect=30us")
    routes = {(each.time_ns, each.switch) for each in planned if "ipv4_lpm" in each.line}
    assert routes == {(time_ns, name) for time_ns in (230_000, 530_000) for name in ("tor1", "tor2", "spine1")}


def test_faults_that_overlap_end_with_the_last() -> None:
    """A link is up only when nothing holds it down."""
    assert _links("link:tor1-spine1,down=100us,up=300us", "link:spine1-tor1,down=200us,up=400us") == [
        (100_000, "tor1", "port_link 2 down"),
        (100_000, "spine1", "port_link 1 down"),
        (400_000, "tor1", "port_link 2 up"),
        (400_000, "spine1", "port_link 1 up"),
    ]


def test_commands_come_in_order_of_time() -> None:
    """Whatever the order of the faults."""
    times = [each.time_ns for each in _planned("link:tor2-spine1,down=300us", "link:tor1-spine1,down=1us,up=900us")]
    assert times == sorted(times)
    assert len(times) > 6
