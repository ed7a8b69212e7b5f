# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for impairments as commands: port, time and parameters."""

from __future__ import annotations

import re

from scenarios.faults.spec import parse_faults
from testbed.faults.impairments import longest_hold_ns
from testbed.faults.timeline import fault_commands
from topologies.shapes import shape
from wire.dilation import Dilation

CLOS = shape("clos", {"hosts_per_tor": 1}).build()


def _planned(*texts: str) -> list[tuple[int, str, str]]:
    commands = fault_commands(CLOS, parse_faults(texts, CLOS), Dilation(100))
    return [(command.time_ns, command.switch, re.sub(r"seed=\d+", "seed=N", command.line)) for command in commands]


def test_a_link_between_switches_is_impaired_at_its_sending_ports() -> None:
    assert _planned("loss:tor1-spine1,rate=1%,from=5us,until=9us") == [
        (5_000, "tor1", "port_impair 2 out loss rate_ppb=10000000 seed=N"),
        (5_000, "spine1", "port_impair 1 out loss rate_ppb=10000000 seed=N"),
        (9_000, "tor1", "port_impair 2 out loss off"),
        (9_000, "spine1", "port_impair 1 out loss off"),
    ]


def test_a_hosts_link_is_impaired_at_its_switchs_port_in_both_directions() -> None:
    assert _planned("corrupt:h1,rate=1%,from=1us") == [
        (1_000, "tor1", "port_impair 1 in corrupt rate_ppb=10000000 seed=N"),
        (1_000, "tor1", "port_impair 1 out corrupt rate_ppb=10000000 seed=N"),
    ]


def test_times_in_commands_are_dilated() -> None:
    """A switch works in wall time."""
    assert [line for _, _, line in _planned("jitter:h1,max=3us,towards=h1", "reorder:h1,rate=1%,towards=h1")] == [
        "port_impair 1 out jitter rate_ppb=1000000000 seed=N time_ns=300000",
        "port_impair 1 out reorder rate_ppb=10000000 seed=N time_ns=100000",
    ]


def test_loss_of_bts_is_loss_of_their_udp_port() -> None:
    """softswitch itself does not recognise BTS."""
    assert _planned("bts-loss:tor1-spine1,rate=1%,towards=tor1") == [
        (0, "spine1", "port_impair 1 out udp_loss rate_ppb=10000000 seed=N udp_port=49791")
    ]


def test_an_impairment_ends_before_the_next_one_of_its_kind_begins() -> None:
    texts = ["loss:h1,rate=2%,from=5us,towards=h1", "loss:h1,rate=1%,until=5us,towards=h1"]
    assert [line for _, _, line in _planned(*texts)][1:] == [
        "port_impair 1 out loss off",
        "port_impair 1 out loss rate_ppb=20000000 seed=N",
    ]


def test_directions_and_faults_have_different_seeds() -> None:
    faults = parse_faults(["loss:all,rate=1%", "corrupt:all,rate=1%"], CLOS)
    commands = fault_commands(CLOS, [fault.seeded(1) for fault in faults], Dilation())
    seeds = [re.findall(r"seed=(\d+)", command.line)[0] for command in commands]
    assert len(seeds) == len(set(seeds)) == 4 * len(CLOS.links)


def test_the_longest_hold_is_the_sum_over_all_impairments() -> None:
    faults = parse_faults(["link:tor1-spine1,down=1us", "jitter:all,max=3us", "reorder:all,rate=1%,by=4us"], CLOS)
    assert longest_hold_ns(faults) == 7_000
