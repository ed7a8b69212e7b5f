# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Impairments as commands: which port is told what, and when."""

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
    return [(each.time_ns, each.switch, re.sub(r"seed=\d+", "seed=N", each.line)) for each in commands]


def test_a_link_between_switches_is_impaired_by_its_senders() -> None:
    """Each direction at the port that sends, from one time to the other."""
    assert _planned("loss:tor1-spine1,rate=1%,from=5us,until=9us") == [
        (5_000, "tor1", "port_impair 2 out loss rate_ppb=10000000 seed=N"),
        (5_000, "spine1", "port_impair 1 out loss rate_ppb=10000000 seed=N"),
        (9_000, "tor1", "port_impair 2 out loss off"),
        (9_000, "spine1", "port_impair 1 out loss off"),
    ]


def test_a_hosts_link_is_its_switchs_port_both_ways() -> None:
    """What a host sends is impaired where it arrives."""
    assert _planned("corrupt:h1,rate=1%,from=1us") == [
        (1_000, "tor1", "port_impair 1 in corrupt rate_ppb=10000000 seed=N"),
        (1_000, "tor1", "port_impair 1 out corrupt rate_ppb=10000000 seed=N"),
    ]


def test_times_in_commands_are_dilated() -> None:
    """A switch knows no model time."""
    assert [line for _, _, line in _planned("jitter:h1,max=3us,towards=h1", "reorder:h1,rate=1%,towards=h1")] == [
        "port_impair 1 out jitter rate_ppb=1000000000 seed=N time_ns=300000",
        "port_impair 1 out reorder rate_ppb=10000000 seed=N time_ns=100000",
    ]


def test_loss_of_bts_is_loss_of_their_port() -> None:
    """softswitch knows no signals."""
    assert _planned("bts-loss:tor1-spine1,rate=1%,towards=tor1") == [
        (0, "spine1", "port_impair 1 out udp_loss rate_ppb=10000000 seed=N udp_port=49791")
    ]


def test_one_after_the_other_of_one_kind_leaves_the_other() -> None:
    """At the instant at which both change, the first ends before the second begins, however they are ordered."""
    texts = ["loss:h1,rate=2%,from=5us,towards=h1", "loss:h1,rate=1%,until=5us,towards=h1"]
    assert [line for _, _, line in _planned(*texts)][1:] == [
        "port_impair 1 out loss off",
        "port_impair 1 out loss rate_ppb=20000000 seed=N",
    ]


def test_no_two_directions_share_their_chance() -> None:
    """Nor do two faults of one run."""
    commands = fault_commands(
        CLOS, [each.seeded(1) for each in parse_faults(["loss:all,rate=1%", "corrupt:all,rate=1%"], CLOS)], Dilation()
    )
    seeds = [re.findall(r"seed=(\d+)", each.line)[0] for each in commands]
    assert len(seeds) == len(set(seeds)) == 4 * len(CLOS.links)


def test_what_is_held_back_is_waited_for() -> None:
    """Together, since a frame may meet all of them."""
    faults = parse_faults(["link:tor1-spine1,down=1us", "jitter:all,max=3us", "reorder:all,rate=1%,by=4us"], CLOS)
    assert longest_hold_ns(faults) == 7_000
