# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for faults as commands: time, switch and text."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from sfc_testbed.hosts.agent_config import HostRate, HostStall
from sfc_testbed.scenarios.faults.spec import parse_fault, parse_faults
from sfc_testbed.testbed.control_plane.commands import Configured, network_commands
from sfc_testbed.testbed.control_plane.entries import TableEntry
from sfc_testbed.testbed.control_plane.faults import PlannedCommand, fault_commands, host_stalls, longest_hold_ns
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.testbed.control_plane.slow_links import nic_rates
from sfc_testbed.topologies.shapes import shape
from sfc_testbed.wire.dilation import Dilation

CLOS = shape("clos", {"hosts_per_tor": 1}).build()
Commands = list[tuple[int, str, str]]
ADJACENT = ("at=10us,for=30us,ring=7", "at=40us,for=5us")


def _planned(*texts: str, dilation: int = 1) -> list[PlannedCommand]:
    return list(fault_commands(CLOS, parse_faults(texts, CLOS), Dilation(dilation), _configured(dilation)))


def _configured(dilation: int = 1, **settings: Any) -> Configured:
    switches = SwitchSettings(**settings)
    return Configured(switches, network_commands(CLOS, switches, Dilation(dilation), seed=1))


def _routes(planned: list[PlannedCommand]) -> list[PlannedCommand]:
    return [command for command in planned if "ipv4_lpm" in command.line]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], []),
        (
            ["link:tor1-spine1,down=200us,up=500us"],
            [
                (200_000, "tor1", "port_link 2 down"),
                (200_000, "spine1", "port_link 1 down"),
                (500_000, "tor1", "port_link 2 up"),
                (500_000, "spine1", "port_link 1 up"),
            ],
        ),
        # the port of the switch models both directions of a host's link
        (["link:h1-tor1,down=1us"], [(1_000, "tor1", "port_link 1 down")]),
        (
            ["link:tor1-spine1,down=100us,up=300us", "link:spine1-tor1,down=300us,up=400us"],
            [
                (100_000, "tor1", "port_link 2 down"),
                (100_000, "spine1", "port_link 1 down"),
                (400_000, "tor1", "port_link 2 up"),
                (400_000, "spine1", "port_link 1 up"),
            ],
        ),
        (["restart:spine1,at=200us"], [(200_000, "spine1", "power off"), (250_000, "spine1", "power on")]),
        (["restart:tor1,at=7us,down=0us"], [(7_000, "tor1", "power off"), (7_000, "tor1", "power on")]),
        (
            ["restart:tor1,at=10us,down=20us", "restart:tor1,at=30us,down=10us"],
            [(10_000, "tor1", "power off"), (30_000, "tor1", "power off"), (40_000, "tor1", "power on")],
        ),
        # adjacent stalls are joined
        (
            [*(f"stall:tor1,{words}" for words in ADJACENT), "stall:tor2,at=12us,for=1us"],
            [
                (10_000, "tor1", "stall on 7"),
                (12_000, "tor2", "stall on 1024"),
                (13_000, "tor2", "stall off"),
                (40_000, "tor1", "stall on 1024"),
                (45_000, "tor1", "stall off"),
            ],
        ),
        # impaired at the ports that send
        (
            ["loss:tor1-spine1,rate=1%,from=5us,until=9us"],
            [
                (5_000, "tor1", "port_impair 2 out loss rate_ppb=10000000 seed=N"),
                (5_000, "spine1", "port_impair 1 out loss rate_ppb=10000000 seed=N"),
                (9_000, "tor1", "port_impair 2 out loss off"),
                (9_000, "spine1", "port_impair 1 out loss off"),
            ],
        ),
        # frames of a host are impaired when they enter the switch
        (
            ["corrupt:h1,rate=1%,from=1us"],
            [
                (1_000, "tor1", "port_impair 1 in corrupt rate_ppb=10000000 seed=N"),
                (1_000, "tor1", "port_impair 1 out corrupt rate_ppb=10000000 seed=N"),
            ],
        ),
        # softswitch itself does not recognise BTS
        (
            ["bts-loss:tor1-spine1,rate=1%,towards=tor1"],
            [(0, "spine1", "port_impair 1 out udp_loss rate_ppb=10000000 seed=N udp_port=1674")],
        ),
        # one impairment ends before the next one of its kind begins, whatever the order of the faults
        (
            ["loss:h1,rate=2%,from=5us,towards=h1", "loss:h1,rate=1%,until=5us,towards=h1"],
            [
                (0, "tor1", "port_impair 1 out loss rate_ppb=10000000 seed=N"),
                (5_000, "tor1", "port_impair 1 out loss off"),
                (5_000, "tor1", "port_impair 1 out loss rate_ppb=20000000 seed=N"),
            ],
        ),
    ],
    ids=lambda value: " ".join(value) if value and isinstance(value[0], str) else "",
)
def test_a_fault_becomes_commands(texts: list[str], expected: Commands) -> None:
    """Commands that change routes are left out here."""
    commands = [
        (command.time_ns, command.switch, re.sub(r"seed=\d+", "seed=N", command.line))
        for command in _planned(*texts)
        if command.line.startswith(("port_", "power", "stall"))
    ]
    assert commands == expected


def test_times_in_commands_are_dilated() -> None:
    planned = _planned("jitter:h1,max=3us,towards=h1", "reorder:h1,rate=1%,towards=h1", dilation=100)
    assert [re.sub(r"seed=\d+", "seed=N", command.line) for command in planned] == [
        "port_impair 1 out jitter rate_ppb=1000000000 seed=N time_ns=300000",
        "port_impair 1 out reorder rate_ppb=10000000 seed=N time_ns=100000",
    ]


def test_routes_change_after_the_detection_delay() -> None:
    planned = _planned("link:tor1-spine1,down=200us,up=500us,detect=30us")
    routes = {(command.time_ns, command.switch) for command in _routes(planned)}
    assert routes == {(time_ns, name) for time_ns in (230_000, 530_000) for name in ("tor1", "tor2", "spine1")}


def test_routes_avoid_a_restarting_switch_only_with_detect() -> None:
    assert {command.line.split()[0] for command in _planned("restart:spine1,at=200us")} == {"power"}
    restart = _planned("restart:spine1,at=200us,down=100us,detect=30us")
    links = _planned(*(f"link:{tor}-spine1,down=200us,up=300us,detect=30us" for tor in ("tor1", "tor2")))
    assert _routes(restart) == _routes(links) != []


def test_the_stall_of_a_host_is_configured_at_its_nic_and_not_at_a_switch() -> None:
    texts = ("stall:h1,at=10us,for=30us,ring=7", "stall:h1,at=50us,for=1us", "stall:tor1,at=1us,for=1us")
    assert host_stalls(CLOS, parse_faults(texts, CLOS)) == {
        "h1": (
            HostStall(at_ns=10_000, for_ns=30_000, ring_frames=7),
            HostStall(at_ns=50_000, for_ns=1_000, ring_frames=1024),
        )
    }
    assert {command.switch for command in _planned(*texts)} == {"tor1"}


def test_directions_and_faults_have_different_seeds() -> None:
    faults = parse_faults(["loss:all,rate=1%", "corrupt:all,rate=1%"], CLOS)
    commands = fault_commands(CLOS, [fault.seeded(1) for fault in faults], Dilation(), _configured())
    seeds = [re.findall(r"seed=(\d+)", command.line)[0] for command in commands]
    assert len(seeds) == len(set(seeds)) == 4 * len(CLOS.links)


def test_a_slow_link_has_another_rate_at_both_ends_for_its_time() -> None:
    """Where two faults overlap, the lowest rate counts, and the dilation divides rates."""
    texts = ["link:tor1-spine1,rate=50%", "link:spine1-tor1#1,rate=25%,from=10us,until=20us"]
    assert [(command.time_ns, command.switch, command.line) for command in _planned(*texts, dilation=10)] == [
        (0, "tor1", "port_rate 2 20000000000"),
        (0, "spine1", "port_rate 1 20000000000"),
        (10_000, "tor1", "port_rate 2 10000000000"),
        (10_000, "spine1", "port_rate 1 10000000000"),
        (20_000, "tor1", "port_rate 2 20000000000"),
        (20_000, "spine1", "port_rate 1 20000000000"),
    ]


def test_the_slow_link_of_a_host_changes_the_port_of_its_switch_and_the_nic() -> None:
    texts = ["link:h1-tor1,rate=25%,from=10us,until=20us", "link:tor1-spine1,rate=50%"]
    commands = [command for command in _planned(*texts, dilation=10) if command.time_ns]
    assert [(command.time_ns, command.switch, command.line) for command in commands] == [
        (10_000, "tor1", "port_rate 1 2500000000"),
        (20_000, "tor1", "port_rate 1 10000000000"),
    ]
    rates = [HostRate(at_ns=10_000, rate_bps=25 * 10**9), HostRate(at_ns=20_000, rate_bps=100 * 10**9)]
    assert nic_rates(CLOS, parse_faults(texts, CLOS)) == {"h1": tuple(rates)}


@pytest.mark.parametrize(
    ("settings", "table"),
    [
        ({"bts": "ingress"}, "congested_port"),
        ({"int_telemetry": True}, "int_port"),
        ({"bolt_threshold_bytes": 20_000}, "bolt"),
    ],
)
def test_a_slow_link_changes_the_entries_that_contain_the_rate(settings: dict[str, Any], table: str) -> None:
    """The changed entry is the one of the slow port: it has the value of a network whose link has this rate."""
    configured = _configured(1000, **settings)
    [change] = [
        command.line
        for command in fault_commands(CLOS, [parse_fault("link:tor1-spine2,rate=25%")], Dilation(1000), configured)
        if command.switch == "tor1" and command.line.startswith(f"table_modify {table} ")
    ]
    slower = replace(
        CLOS,
        links=tuple(
            replace(link, rate_bps=link.rate_bps // 4) if {link.a.node, link.b.node} == {"tor1", "spine2"} else link
            for link in CLOS.links
        ),
    )
    entries = [
        entry
        for entry in network_commands(slower, configured.settings, Dilation(1000), seed=1)["tor1"]
        if isinstance(entry, TableEntry) and entry.table == table
    ]
    handle = int(change.split()[3])
    assert entries[handle].keys == (3,)
    expected = [str(parameter) for parameter in entries[handle].parameters]
    actual = change.partition("=> ")[2].split()
    if table == "int_port":  # the code of a rate is of the network without the fault
        del expected[1], actual[1]
    assert actual == expected


def test_the_longest_hold_is_the_sum_over_all_impairments() -> None:
    faults = parse_faults(["link:tor1-spine1,down=1us", "jitter:all,max=3us", "reorder:all,rate=1%,by=4us"], CLOS)
    assert longest_hold_ns(faults) == 7_000
