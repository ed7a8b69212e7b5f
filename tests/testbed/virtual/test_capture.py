# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Captures of switch ports in virtual time: both directions, at the time when the link's other end has the frame."""

from __future__ import annotations

import pytest

from sfc_testbed.telemetry.captures.clock import CaptureClock
from sfc_testbed.telemetry.captures.pcapng import CapturedFrame, Direction, read_capture
from sfc_testbed.testbed.execution.execute import execute
from sfc_testbed.testbed.recording.outcome import Silent
from tests.testbed.incasts import plan_incast

PLACES = ("h1", "tor1:h1", "tor1:spine1", "spine1:tor1")


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[CapturedFrame]]:
    plan = plan_incast("sfc", "degree=4", "message_bytes=30000", captures=PLACES)
    folder = execute(plan, tmp_path_factory.mktemp("runs"), Silent(), page=False).folder
    return {path.stem: list(read_capture(path)) for path in sorted((folder / "pcaps").iterdir())}


def _going(frames: list[CapturedFrame], direction: Direction) -> list[tuple[int, bytes]]:
    return [(record.time_ns, record.frame) for record in frames if record.direction is direction]


def test_both_ends_of_a_link_see_the_same_at_the_same_model_time(captures: dict[str, list[CapturedFrame]]) -> None:
    host, port, up, down = (captures[name] for name in ("h1-eth0", "tor1-eth1", "tor1-eth9", "spine1-eth1"))
    for one, other in ((host, port), (port, host), (up, down), (down, up)):
        assert _going(one, Direction.OUT)
        assert _going(one, Direction.OUT) == _going(other, Direction.IN)
    for frames in (host, port, up, down):
        assert not _going(frames, Direction.UNKNOWN)
        assert [record.time_ns for record in frames] == sorted(record.time_ns for record in frames)
    clocks = {record.interface.clock for frames in captures.values() for record in frames}
    assert clocks == {CaptureClock(1000, 0, 0)}
