# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Captures of switch ports in virtual time: both directions, each frame as and when the link's other end has it."""

from __future__ import annotations

import pytest

from telemetry.captures.clock import CaptureClock
from telemetry.captures.pcapng import CapturedFrame, Direction, read_capture
from testbed.execution.execute import execute
from testbed.plan.plan import RunRequest, plan_run
from testbed.recording.outcome import Silent

PLACES = ("h1", "tor1:h1", "tor1:spine1", "spine1:tor1")


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[CapturedFrame]]:
    """By interface."""
    settings = ("degree=4", "message_bytes=30000")
    plan = plan_run(RunRequest("incast", clock="virtual", settings=settings, captures=PLACES))
    folder = execute(plan, tmp_path_factory.mktemp("runs"), Silent(), page=False).folder
    return {path.stem: list(read_capture(path)) for path in sorted((folder / "pcaps").iterdir())}


def _going(frames: list[CapturedFrame], direction: Direction) -> list[tuple[int, bytes]]:
    return [(each.time_ns, each.frame) for each in frames if each.direction is direction]


def test_both_ends_of_a_link_see_the_same(captures: dict[str, list[CapturedFrame]]) -> None:
    """What one sends the other gets: the same bytes at the same time, in order."""
    host, port, up, down = (captures[name] for name in ("h1-eth0", "tor1-eth1", "tor1-eth9", "spine1-eth1"))
    for one, other in ((host, port), (port, host), (up, down), (down, up)):
        assert _going(one, Direction.OUT)
        assert _going(one, Direction.OUT) == _going(other, Direction.IN)
    for frames in (host, port, up, down):
        assert not _going(frames, Direction.UNKNOWN)
        assert [each.time_ns for each in frames] == sorted(each.time_ns for each in frames)


def test_a_capture_tells_its_model_time(captures: dict[str, list[CapturedFrame]]) -> None:
    """Of the virtual clock, which begins with the model and the switches."""
    assert {each.interface.clock for frames in captures.values() for each in frames} == {CaptureClock(1000, 0, 0)}
