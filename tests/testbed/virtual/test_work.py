# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the share of a virtual run that is done: it grows steadily to the whole, however the run ends."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sfc_testbed.testbed.execution.execute import execute
from sfc_testbed.testbed.recording.outcome import Silent
from sfc_testbed.testbed.virtual import simulation
from sfc_testbed.testbed.virtual.gathering import Gathering
from sfc_testbed.testbed.virtual.tasks import WorkerReport
from tests.testbed.incasts import plan_incast


class _Shares(Silent):
    """Collects the reported shares."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def share_done(self, share: float) -> None:
        self.values.append(share)


@pytest.mark.parametrize("duration_ms", [20.0, 0.05])
def test_the_share_grows_to_the_whole(duration_ms: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shorter duration ends the run before its flows are complete."""
    monkeypatch.setattr(simulation, "_PROGRESS_TURNS", 20)
    shares = _Shares()
    plan = plan_incast("sfc", "degree=4", topology="clos", duration_ms=duration_ms)
    execute(plan, tmp_path, shares, page=False)
    assert shares.values == sorted(shares.values)
    assert len(set(shares.values)) > 5
    assert 0.9 < shares.values[-1] <= 1


def test_the_packets_of_all_workers_count() -> None:
    """Each worker's report has its own packets; the plan has 500."""
    recorder: Any = SimpleNamespace(is_save_due=False)
    shares = _Shares()
    plan = plan_incast("sfc", "degree=2", "message_bytes=250000")
    gathering = Gathering(plan, recorder, shares, 2)
    assert gathering.is_starting
    for number in (0, 1):
        gathering.take(number, WorkerReport(0, []))
    assert not gathering.is_starting
    gathering.take(0, WorkerReport(1, [], time_ns=1, delivered_packets=100))
    gathering.take(1, WorkerReport(1, [], time_ns=1, delivered_packets=150))
    assert shares.values == [0.2, 0.5]
