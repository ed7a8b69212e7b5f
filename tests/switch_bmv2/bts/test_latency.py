# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a switch takes for a pass and to build a BTS: properties of the switch, seen from its ports."""

from __future__ import annotations

import pytest

from tests.switch_bmv2.bench_switch import DILATION, FRAME_OVERHEAD, US, BenchSwitch, bench_switch
from topologies.commands import wire_commands
from topologies.model import Topology
from topologies.settings import SwitchSettings
from topologies.shapes import shape

FRAME = 1000 + FRAME_OVERHEAD
SFC = SwitchSettings(bts="ingress", q_th_bytes=3 * FRAME, q_tg_bytes=FRAME)


def _star(**parameters: int) -> Topology:
    return shape("star", {"hosts": 4, **parameters}).build()


def _as_wired(topology: Topology) -> tuple[str, ...]:
    """What the testbed sets besides tables."""
    return tuple(wire_commands(topology, "s1", DILATION))


def _fill(switch: BenchSwitch, frames: int, at_ns: int = 0) -> None:
    for qpn in range(100, 100 + frames):
        switch.send(switch.data("h1", "h4", qpn=qpn), 1, at_ns)


@pytest.mark.parametrize("latency_ns", [0, 300, 600, 1200])
def test_a_bts_knows_the_depth_at_the_end_of_what_building_it_takes(latency_ns: int) -> None:
    """It leaves so much later, names when it was triggered, and pauses for a queue that has grown meanwhile."""
    switch_latency = f"mirroring_delay 1 {DILATION.wall_ns(latency_ns)}"
    with bench_switch(_star(), "s1", SFC, (switch_latency,)) as switch:
        _fill(switch, 30)
        seen = switch.send(switch.data("h2", "h4"), 2, 10 * US)
        assert not [each for each in seen if each.is_bts] or not latency_ns
        depth = switch.register("queue_bytes", 4 << 3 | 3)
        for turn in range(4):
            seen += switch.send(switch.data("h3", "h4", qpn=turn + 1), 3, 20 * US)
        seen += switch.run_to(20 * US + DILATION.wall_ns(latency_ns))
        [signal] = [each for each in seen if each.is_bts and each.port == 2]
        assert signal.due_ns == 10 * US + DILATION.wall_ns(latency_ns) + 70 * 80  # on its wire: 0.08 us a byte
        assert signal.bts.sent_us == 10
        drained = (10 * US + DILATION.wall_ns(latency_ns)) // (FRAME * 80)
        assert signal.bts.queue_depth_bytes == depth + ((4 - drained) * FRAME if latency_ns else 0)


def test_the_default_is_one_pass_more_and_no_pass_beyond_the_links() -> None:
    """600 ns of the model, and a hop is what its link says."""
    lines = _as_wired(_star())
    assert "mirroring_delay 1 600000" in lines
    assert "port_delay 1 1000000" in lines


def test_a_pass_takes_its_time_of_every_frame_that_leaves() -> None:
    """Data and BTS alike come so much later to the other end; the depth that a packet finds is of its arrival."""
    dues = []
    for pass_ns in (0, 450):
        topology = _star(pass_latency_ns=pass_ns, bts_latency_ns=0)
        with bench_switch(topology, "s1", SFC, _as_wired(topology)) as switch:
            _fill(switch, 8)
            seen = [*switch.send(switch.data("h2", "h4"), 2, 0), *switch.run_dry()]
            dues.append([(each.port, each.is_bts, each.due_ns) for each in seen])
    assert [(port, is_bts, due_ns + 450_000) for port, is_bts, due_ns in dues[0]] == dues[1]


def test_pause_frames_take_no_time_to_build() -> None:
    """A MAC sends them at once, also on a switch that takes long for a BTS."""
    lossless = SwitchSettings(pfc=True, buffer_bytes=400_000)
    with bench_switch(_star(), "s1", lossless, ("mirroring_delay 1 1000000000",)) as switch:
        seen = [each for _ in range(60) for each in switch.send(switch.data("h1", "h4"), 1, 0)]
        assert [each.pause for each in seen if each.is_pause] == [(3, 0xFFFF)]
