# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Round trip and one-way delay as a congestion control hears of them in a run, against the links of the path."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from hosts.transport.congestion import CONGESTION_CONTROLS, AckSample, CongestionControl
from testbed.interrupt import Interrupt
from testbed.plan.plan import RunRequest, plan_run
from testbed.recording.outcome import Silent
from testbed.recording.recorder import Recorder
from testbed.virtual.simulation import simulate
from topologies.routes import Paths
from wire.constants import INT_RECORD_BYTES, INT_SHIM_BYTES
from wire.roce.packets import ACK_FRAME_BYTES, data_frame_bytes

STAMP_BYTES = INT_SHIM_BYTES + INT_RECORD_BYTES
DILATION = 1_000


class Listener(CongestionControl):
    """Limits nothing, and keeps what it hears."""

    __slots__ = ()

    wants_delay = True
    heard: ClassVar[list[AckSample]] = []

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        """Nothing but that."""
        self.heard.append(sample)


def _heard(monkeypatch: pytest.MonkeyPatch, folder: Path, *settings: str) -> tuple[list[AckSample], float, float]:
    """The samples of an incast's flows, and what a full packet takes there and its acknowledgement back, model ns."""
    monkeypatch.setitem(CONGESTION_CONTROLS, "listener", Listener)
    monkeypatch.setattr(Listener, "heard", [])
    words = ("transport.congestion=listener", "switch.buffer_bytes=null", "window_us=0", *settings)
    plan = plan_run(RunRequest("incast", scheme="irn+none", clock="virtual", dilation=DILATION, settings=words))
    path = Paths(plan.topology).between(plan.flows[0].src, plan.flows[0].dst)
    data_bytes, ack_bytes = data_frame_bytes(1_000, is_last=False) + STAMP_BYTES, ACK_FRAME_BYTES + STAMP_BYTES
    there, back = (
        sum(8e9 * size_bytes / link.rate_bps + link.delay_ns for link in path) for size_bytes in (data_bytes, ack_bytes)
    )
    with Recorder(plan, folder) as recorder:
        simulate(plan, folder, recorder, Silent(), Interrupt())
    return Listener.heard, there, back


def test_an_idle_path_takes_what_its_links_take(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The way there to the step of the stamps, 1 us of wall time; the round trip to the ns."""
    heard, there, back = _heard(monkeypatch, tmp_path, "degree=1", "message_bytes=20000")
    assert len(heard) == 20
    for sample in heard[:-1]:  # the last packet carries more
        assert sample.one_way_delay_ns is not None
        assert sample.rtt_ns is not None
        assert sample.one_way_delay_ns / DILATION == pytest.approx(there, abs=1.01)
        assert sample.rtt_ns / DILATION == pytest.approx(there + back, abs=0.1)


def test_a_queue_shows_in_the_way_there_and_not_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two senders at line rate into one: the last packets wait as long as the other's 100 KB take; answers do not."""
    heard, there, back = _heard(monkeypatch, tmp_path, "degree=2", "message_bytes=100000")
    longest_ns = max(sample.one_way_delay_ns or 0 for sample in heard) / DILATION
    others_ns = 100 * 8e9 * (data_frame_bytes(1_000, is_last=False) + STAMP_BYTES) / 100e9
    assert longest_ns - there == pytest.approx(others_ns, rel=0.03)
    for sample in heard:
        if sample.rtt_ns is not None and sample.one_way_delay_ns is not None:
            assert (sample.rtt_ns - sample.one_way_delay_ns) / DILATION == pytest.approx(back, abs=5)
