# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of a switch's latencies: the time of a pass and the time to build a BTS, measured at its ports."""

from __future__ import annotations

import pytest

from sfc_testbed.testbed.control_plane.commands import wire_commands
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.topologies.model import Topology
from sfc_testbed.topologies.shapes import shape
from tests.switch_bmv2.bench_switch import DILATION, FRAME, US, bench_switch, signals

SFC = SwitchSettings(bts="ingress", q_th_bytes=3 * FRAME, q_tg_bytes=FRAME)


def _star(**parameters: int) -> Topology:
    return shape("star", {"hosts": 4, **parameters}).build()


def _as_wired(topology: Topology) -> tuple[str, ...]:
    """Return the commands with which the testbed configures ports and delays."""
    return tuple(wire_commands(topology, "s1", DILATION))


@pytest.mark.parametrize("latency_ns", [0, 300, 600, 1200])
def test_a_bts_contains_the_depth_at_the_end_of_its_construction(latency_ns: int) -> None:
    """The BTS leaves after the latency. It contains the time of its trigger and the depth of the grown queue."""
    switch_latency = f"mirroring_delay 1 {DILATION.wall_ns(latency_ns)}"
    with bench_switch(_star(), "s1", SFC, (switch_latency,)) as switch:
        switch.burst("h1", "h4", 30, first_qpn=100)
        departures = switch.send(switch.data("h2", "h4"), 2, 10 * US)
        assert not signals(departures) or not latency_ns
        depth = switch.register("queue_bytes", 4 << 3 | 3)
        departures += switch.burst("h3", "h4", 4, at_ns=20 * US)
        departures += switch.run_to(20 * US + DILATION.wall_ns(latency_ns))
        [signal] = [departure for departure in signals(departures) if departure.port == 2]
        assert signal.due_ns == 10 * US + DILATION.wall_ns(latency_ns) + 60 * 80  # on its wire: 0.08 us per byte
        assert signal.bts.stamp == 10 >> 4
        drained = (10 * US + DILATION.wall_ns(latency_ns)) // (FRAME * 80)
        assert signal.bts.queue_depth_bytes == depth + ((4 - drained) * FRAME if latency_ns else 0)


def test_default_latencies() -> None:
    """Building a BTS takes 600 ns of model time, and a hop takes only the delay of its link."""
    lines = _as_wired(_star())
    assert "mirroring_delay 1 600000" in lines
    assert "port_delay 1 1000000" in lines


def test_the_latency_of_a_pass_delays_every_frame() -> None:
    """Data and BTS are delayed equally. The depth that a packet finds is the depth at its arrival."""
    dues = []
    for pass_ns in (0, 450):
        topology = _star(pass_latency_ns=pass_ns, bts_latency_ns=0)
        with bench_switch(topology, "s1", SFC, _as_wired(topology)) as switch:
            switch.burst("h1", "h4", 8, first_qpn=100)
            departures = [*switch.send(switch.data("h2", "h4"), 2, 0), *switch.run_dry()]
            dues.append([(departure.port, departure.is_bts, departure.due_ns) for departure in departures])
    assert [(port, is_bts, due_ns + 450_000) for port, is_bts, due_ns in dues[0]] == dues[1]


def test_pause_frames_take_no_time_to_build() -> None:
    """The MAC sends them at once, even if the switch takes long to build a BTS."""
    lossless = SwitchSettings(pfc=True, buffer_bytes=400_000)
    with bench_switch(_star(), "s1", lossless, ("mirroring_delay 1 1000000000",)) as switch:
        departures = [departure for _ in range(60) for departure in switch.send(switch.data("h1", "h4"), 1, 0)]
        assert [departure.pause for departure in departures if departure.is_pause] == [(3, 0xFFFF)]
