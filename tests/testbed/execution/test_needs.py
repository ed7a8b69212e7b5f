# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Estimated needs of a run, compared with what a run takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.results.spec import RunSpec
from testbed.execution.execute import execute
from testbed.execution.needs import Needs, needs_of, sum_of
from testbed.plan.plan import plan_run
from testbed.plan.settings import parse_settings
from testbed.recording.outcome import Silent

SMALL = ("degree=2", "message_bytes=2000")
LARGE = ("topology.tors=4", "topology.hosts_per_tor=12", "degree=36", "message_bytes=250000")


def _needs(*settings: str, clock: str = "virtual", captures: tuple[str, ...] = ()) -> Needs:
    request = RunSpec(
        "incast",
        clock=clock,  # type: ignore[arg-type]
        switch="soft",
        dilation=1000,
        settings=parse_settings(settings),
        captures=captures,
    )
    return needs_of(plan_run(request))


@pytest.mark.parametrize("settings", [SMALL, LARGE], ids=["small", "large"])
def test_a_run_takes_at_most_its_estimate(settings: tuple[str, ...], tmp_path: Path) -> None:
    plan = plan_run(RunSpec("incast", clock="virtual", settings=parse_settings(settings), captures=("h1", "h2")))
    folder = execute(plan, tmp_path, Silent()).folder
    files = [path for path in folder.rglob("*")]
    blocks = sum(path.stat().st_blocks * 512 for path in files)
    needs = needs_of(plan)
    assert 0 < blocks <= needs.disk_bytes
    assert len(files) < needs.files
    assert max(path.stat().st_size for path in files) <= needs.largest_file_bytes


def test_needs_grow_with_the_plan() -> None:
    small, large = _needs(*SMALL), _needs(*LARGE)
    assert large.disk_bytes > small.disk_bytes
    assert large.memory_bytes > small.memory_bytes
    assert large.descriptors == small.descriptors, "hosts need no descriptors in virtual time"
    assert _needs(*LARGE, captures=("h48",)).disk_bytes > large.disk_bytes + 36 * 250_000
    live_small, live_large = _needs(*SMALL, clock="real"), _needs(*LARGE, clock="real")
    assert live_small.disk_bytes > small.disk_bytes
    assert live_large.descriptors - live_small.descriptors >= 2 * (48 - 16)
    assert live_large.files > live_small.files


def test_needs_of_runs_in_sequence() -> None:
    """Disk and files add up; descriptors and memory do not."""
    one = _needs(*SMALL)
    three = sum_of([one] * 3)
    assert three == one.times(3)
    assert (three.disk_bytes, three.files) == (3 * one.disk_bytes, 3 * one.files)
    assert (three.descriptors, three.memory_bytes) == (one.descriptors, one.memory_bytes)
