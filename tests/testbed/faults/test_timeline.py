# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for faults as commands: switch, time and text."""

from __future__ import annotations

from hosts.agent_config import HostStall
from scenarios.faults.spec import parse_faults
from testbed.faults.nodes import host_stalls
from testbed.faults.timeline import PlannedCommand, fault_commands
from topologies.shapes import shape
from wire.dilation import Dilation

CLOS = shape("clos", {"hosts_per_tor": 1}).build()


def _planned(*texts: str) -> list[PlannedCommand]:
    return list(fault_commands(CLOS, parse_faults(texts, CLOS), Dilation()))


def _links(*texts: str) -> list[tuple[int, str, str]]:
    commands = [command for command in _planned(*texts) if command.line.startswith("port_link")]
    return [(command.time_ns, command.switch, command.line) for command in commands]


def test_without_faults_nothing_is_planned() -> None:
    assert _planned() == []


def test_both_ends_of_a_link_change_at_once() -> None:
    assert _links("link:tor1-spine1,down=200us,up=500us") == [
        (200_000, "tor1", "port_link 2 down"),
        (200_000, "spine1", "port_link 1 down"),
        (500_000, "tor1", "port_link 2 up"),
        (500_000, "spine1", "port_link 1 up"),
    ]


def test_a_hosts_link_fails_at_its_switchs_port() -> None:
    """The port of the switch models both directions of the link."""
    assert _links("link:h1-tor1,down=1us") == [(1_000, "tor1", "port_link 1 down")]


def test_routes_change_after_the_detection_delay() -> None:
    planned = _planned("link:tor1-spine1,down=200us,up=500us,detect=30us")
    routes = {(command.time_ns, command.switch) for command in planned if "ipv4_lpm" in command.line}
    assert routes == {(time_ns, name) for time_ns in (230_000, 530_000) for name in ("tor1", "tor2", "spine1")}


def test_overlapping_faults_of_a_link_end_with_the_last() -> None:
    assert _links("link:tor1-spine1,down=100us,up=300us", "link:spine1-tor1,down=200us,up=400us") == [
        (100_000, "tor1", "port_link 2 down"),
        (100_000, "spine1", "port_link 1 down"),
        (400_000, "tor1", "port_link 2 up"),
        (400_000, "spine1", "port_link 1 up"),
    ]


def test_commands_come_in_order_of_time() -> None:
    planned = _planned("link:tor2-spine1,down=300us", "link:tor1-spine1,down=1us,up=900us")
    times = [command.time_ns for command in planned]
    assert times == sorted(times)
    assert len(times) > 6


def _nodes(*texts: str) -> list[tuple[int, str, str]]:
    commands = [command for command in _planned(*texts) if command.line.startswith(("power", "stall"))]
    return [(command.time_ns, command.switch, command.line) for command in commands]


def test_a_restart_is_power_off_and_on() -> None:
    assert _nodes("restart:spine1,at=200us") == [(200_000, "spine1", "power off"), (250_000, "spine1", "power on")]
    assert _nodes("restart:tor1,at=7us,down=0us") == [(7_000, "tor1", "power off"), (7_000, "tor1", "power on")]


def test_routes_avoid_a_restarting_switch_only_with_detect() -> None:
    assert {command.line.split()[0] for command in _planned("restart:spine1,at=200us")} == {"power"}
    restart = _planned("restart:spine1,at=200us,down=100us,detect=30us")
    links = _planned(*(f"link:{tor}-spine1,down=200us,up=300us,detect=30us" for tor in ("tor1", "tor2")))
    routes = [[command for command in planned if "ipv4_lpm" in command.line] for planned in (restart, links)]
    assert routes[0] == routes[1] != []


def test_overlapping_restarts_end_with_the_last() -> None:
    assert _nodes("restart:tor1,at=10us,down=20us", "restart:tor1,at=20us,down=20us") == [
        (10_000, "tor1", "power off"),
        (20_000, "tor1", "power off"),
        (40_000, "tor1", "power on"),
    ]


def test_overlapping_stalls_end_with_the_last() -> None:
    stalls = ("stall:tor1,at=10us,for=30us,ring=7", "stall:tor1,at=20us,for=5us", "stall:tor1,at=40us,for=5us")
    assert _nodes(*stalls, "stall:tor2,at=12us,for=1us") == [
        (10_000, "tor1", "stall on 7"),
        (12_000, "tor2", "stall on 1024"),
        (13_000, "tor2", "stall off"),
        (20_000, "tor1", "stall on 1024"),
        (40_000, "tor1", "stall on 1024"),
        (45_000, "tor1", "stall off"),
    ]


def test_the_stall_of_a_host_is_configured_at_its_nic_and_not_at_a_switch() -> None:
    faults = parse_faults(
        ["stall:h1,at=10us,for=30us,ring=7", "stall:h1,at=50us,for=1us", "stall:tor1,at=1us,for=1us"], CLOS
    )
    assert host_stalls(CLOS, faults) == {
        "h1": (
            HostStall(at_ns=10_000, for_ns=30_000, ring_frames=7),
            HostStall(at_ns=50_000, for_ns=1_000, ring_frames=1024),
        )
    }
    assert {command.switch for command in fault_commands(CLOS, faults, Dilation())} == {"tor1"}
