# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""RTT and one-way delay as a congestion control gets them in a run, compared with the links of the path."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS, AckSample, CongestionControl
from sfc_testbed.topologies.routes import Paths
from sfc_testbed.wire.constants import INT_RECORD_BYTES, INT_SHIM_BYTES
from sfc_testbed.wire.roce.packets import ACK_FRAME_BYTES, data_frame_bytes
from tests.testbed.incasts import plan_incast, simulated

STAMP_BYTES = INT_SHIM_BYTES + INT_RECORD_BYTES
DILATION = 1_000


class Listener(CongestionControl):
    """A congestion control that limits nothing and records its samples."""

    __slots__ = ()

    wants_delay = True
    samples: ClassVar[list[AckSample]] = []

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        self.samples.append(sample)


def _samples(monkeypatch: pytest.MonkeyPatch, folder: Path, *settings: str) -> tuple[list[AckSample], float, float]:
    """Return an incast's samples, and the delays of a full packet and of its acknowledgment in model ns."""
    monkeypatch.setitem(CONGESTION_CONTROLS._rows, "listener", Listener)
    monkeypatch.setattr(Listener, "samples", [])
    words = ("transport.congestion=listener", "switch.buffer_bytes=null", "window_us=0", *settings)
    plan = plan_incast("irn+none", *words, dilation=DILATION)
    path = Paths(plan.topology).between(plan.flows[0].src, plan.flows[0].dst)
    data_bytes, ack_bytes = data_frame_bytes(1_000, is_last=False) + STAMP_BYTES, ACK_FRAME_BYTES + STAMP_BYTES
    data_ns, ack_ns = (
        sum(8e9 * size_bytes / link.rate_bps + link.delay_ns for link in path) for size_bytes in (data_bytes, ack_bytes)
    )
    simulated(plan, folder)
    return Listener.samples, data_ns, ack_ns


def test_delays_on_an_idle_path_equal_the_delays_of_its_links(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The one-way delay has the resolution of the stamps, 1 us of wall time; the RTT is exact to the ns."""
    samples, data_ns, ack_ns = _samples(monkeypatch, tmp_path, "degree=1", "message_bytes=20000")
    assert len(samples) == 20
    for sample in samples[:-1]:  # the last packet is longer
        assert sample.one_way_delay_ns is not None
        assert sample.rtt_ns is not None
        assert sample.one_way_delay_ns / DILATION == pytest.approx(data_ns, abs=1.01)
        assert sample.rtt_ns / DILATION == pytest.approx(data_ns + ack_ns, abs=0.1)


def test_a_queue_adds_to_the_one_way_delay_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two senders at line rate: the last packets wait for 100 KB of the other sender; acknowledgments do not wait."""
    samples, data_ns, ack_ns = _samples(monkeypatch, tmp_path, "degree=2", "message_bytes=100000")
    longest_ns = max(sample.one_way_delay_ns or 0 for sample in samples) / DILATION
    others_ns = 100 * 8e9 * (data_frame_bytes(1_000, is_last=False) + STAMP_BYTES) / 100e9
    assert longest_ns - data_ns == pytest.approx(others_ns, rel=0.03)
    for sample in samples:
        if sample.rtt_ns is not None and sample.one_way_delay_ns is not None:
            assert (sample.rtt_ns - sample.one_way_delay_ns) / DILATION == pytest.approx(ack_ns, abs=5)
