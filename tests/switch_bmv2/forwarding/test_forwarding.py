# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of IPv4 forwarding: next hops, TTL, checksum, ECMP, and the reasons for drops."""

from __future__ import annotations

from collections import Counter

import pytest

from sfc_testbed.testbed.control_plane.commands import pipeline_commands
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.topologies.shapes import shape
from sfc_testbed.wire.int_header import request
from softswitch.control import CommandError
from tests.switch_bmv2.bench_switch import DILATION, BenchSwitch, bench_switch

PLAIN = SwitchSettings()
CLOS = shape("clos", {"hosts_per_tor": 2, "spines": 2, "uplinks": 2}).build()


def _deliver(switch: BenchSwitch, frame: bytes, port: int) -> list[tuple[int, bytes]]:
    departures = switch.send(frame, port, 0) + switch.run_dry()
    return [(departure.port, departure.frame) for departure in departures]


def test_flows_spread_over_all_uplinks_and_each_stays_on_one() -> None:
    with bench_switch(CLOS, "tor1", PLAIN) as switch:
        ports = Counter[int]()
        for qpn in range(1, 401):
            first, second = (_deliver(switch, switch.data("h1", "h3", qpn=qpn), 1)[0][0] for _ in range(2))
            assert first == second
            ports[first] += 1
    assert set(ports) == {3, 4, 5, 6}
    assert min(ports.values()) > 60


@pytest.mark.parametrize(
    "shim",
    [
        request(telemetry=True, stamp_us=None),
        request(telemetry=False, stamp_us=7),
        request(telemetry=True, stamp_us=7, is_compact=True),
    ],
    ids=["records", "time stamp", "compact"],
)
def test_telemetry_does_not_change_the_path(shim: bytes) -> None:
    """Packets with telemetry have another UDP port."""
    with bench_switch(CLOS, "tor1", PLAIN) as switch:
        for qpn in range(1, 101):
            plain, stamped = (
                _deliver(switch, switch.data("h1", "h3", qpn=qpn, shim=content), 1)[0][0] for content in (b"", shim)
            )
            assert plain == stamped


def test_the_seed_changes_the_paths_of_some_flows() -> None:
    ports = []
    for seed in (1, 2, 1):
        identity, *_ = pipeline_commands(CLOS, "tor1", PLAIN, DILATION, seed=seed)
        with bench_switch(CLOS, "tor1", PLAIN, (str(identity),)) as switch:
            frames = [switch.data("h1", "h3", qpn=qpn) for qpn in range(1, 101)]
            ports.append([_deliver(switch, frame, 1)[0][0] for frame in frames])
    assert ports[0] == ports[2]
    assert 50 < sum(one != other for one, other in zip(ports[0], ports[1], strict=True)) < 95


def test_switches_in_a_row_choose_independently() -> None:
    """A spine spreads flows that arrive from the same uplink of a ToR over its links to the next ToR."""
    with bench_switch(CLOS, "tor1", PLAIN) as tor, bench_switch(CLOS, "spine1", PLAIN) as spine:
        ports = Counter[int]()
        for qpn in range(1, 401):
            [(port, frame)] = _deliver(tor, tor.data("h1", "h3", qpn=qpn), 1)
            if port == 3:  # the ToR's first uplink
                ports[_deliver(spine, frame, 1)[0][0]] += 1
    assert len(ports) == 2
    assert min(ports.values()) > 0.25 * sum(ports.values())


def test_an_unknown_table_is_answered_with_the_tables_of_the_source() -> None:
    """The compiler turns statements into tables, too. Nobody can use them."""
    with bench_switch(CLOS, "tor1", PLAIN) as switch, pytest.raises(CommandError) as refused:
        switch.engine.command("table_dump nosuch")
    assert "SfcIngress.forwarding.ipv4_lpm" in str(refused.value)
    assert "tbl_" not in str(refused.value)
