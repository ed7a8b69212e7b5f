# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The live prompt's verbs, on engines in this process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from testbed.live.verbs import VerbError, Verbs
from testbed.targets.common.counters import SwitchCounts
from tests.switch_bmv2.bench_switch import DILATION, BenchSwitch, bench_switch
from tests.switch_bmv2.bts.test_pause_cache import CLOS, SFC, UPLINK, _remote_bts


class _Live:
    """A bench switch as the prompt sees a switch."""

    def __init__(self, switch: BenchSwitch) -> None:
        self.name = switch.name
        self.bench = switch

    def command(self, line: str) -> str:
        return self.bench.engine.command(line)

    def counts(self) -> SwitchCounts:
        return self.bench.counts()


@pytest.fixture
def live() -> Iterator[tuple[BenchSwitch, Verbs]]:
    """tor1 with data waiting for h1 and a remembered pause."""
    with bench_switch(CLOS, "tor1", SFC) as switch:
        for qpn in range(1, 4):
            switch.send(switch.data("h2", "h1", qpn=qpn), 2, 0)
        switch.send(_remote_bts(), UPLINK, 0)
        yield switch, Verbs(CLOS, DILATION, [_Live(switch)])


def test_queues_shows_what_is_held(live: tuple[BenchSwitch, Verbs]) -> None:
    """Bytes by port and class, with the port's neighbour."""
    text = live[1].table()["queues"].run(["tor1"])
    assert "port 1 to h1, class 3: 2116" in text


def test_cache_names_the_destination(live: tuple[BenchSwitch, Verbs]) -> None:
    """The entry's host, address, DSCP and end."""
    text = live[1].table()["cache"].run(["tor1"])
    assert "1 live entries" in text
    assert "h6 10.2.0.3, DSCP 26: paused until 400 us" in text


def test_bts_and_drops_count(live: tuple[BenchSwitch, Verbs]) -> None:
    """What happened since the start, by name."""
    table = live[1].table()
    assert "cache_learned 1" in table["bts"].run([])
    assert table["drops"].run([]) == "tor1: none"


def test_set_rate_is_in_model_units(live: tuple[BenchSwitch, Verbs]) -> None:
    """1 Gb/s of the model is 1 Mb/s at a dilation of 1000: the next frame takes that long."""
    switch, verbs = live
    verbs.table()["set_rate"].run(["tor1", "3", "1"])
    [seen] = [each for each in switch.send(switch.data("h2", "h3"), 2, 10**9) if each.port == 3]
    assert seen.due_ns == 10**9 + 1058 * 8_000


def test_p4_passes_any_command_on(live: tuple[BenchSwitch, Verbs]) -> None:
    """A raw control command and its answer."""
    assert "ipv4_lpm" in live[1].table()["p4"].run(["tor1", "show_tables"])


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        ("queues", ["tor9"]),
        ("cache", []),
        ("set_rate", ["tor1", "1"]),
        ("set_rate", ["tor1", "1", "x"]),
        ("p4", ["tor1"]),
    ],
)
def test_wrong_use_is_one_line(live: tuple[BenchSwitch, Verbs], verb: str, words: list[str]) -> None:
    """The usage, or the switches there are."""
    with pytest.raises(VerbError, match=r"usage|no switch"):
        live[1].table()[verb].run(words)
