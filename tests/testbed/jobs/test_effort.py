# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the expected processor time of a run, and for the estimate of the time that jobs still need."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from sfc_testbed.testbed.jobs import effort
from sfc_testbed.testbed.jobs.time_left import TimeLeft
from tests.testbed.incasts import plan_incast


@pytest.fixture
def sample_s(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """Replace the processor times of the samples by values that the test sets."""
    times_s: list[float] = []
    monkeypatch.setattr(effort, "_sample_work_s", lambda: times_s.pop(0))
    effort.slowness.cache_clear()
    yield times_s
    effort.slowness.cache_clear()


def test_the_fastest_sample_counts_because_other_work_only_adds_time(sample_s: list[float]) -> None:
    sample_s += [9.0, 3 * effort._SAMPLE_S, 9.0, 9.0, 9.0]
    assert effort.slowness() == pytest.approx(3)


def test_a_run_takes_twice_as_long_on_a_processor_half_as_fast(sample_s: list[float]) -> None:
    sample_s += [effort._SAMPLE_S] * 5
    fast = effort.effort_of(plan_incast())
    effort.slowness.cache_clear()
    sample_s += [2 * effort._SAMPLE_S] * 5
    slow = effort.effort_of(plan_incast())
    assert slow.seconds == pytest.approx(2 * fast.seconds)
    assert (slow.memory_bytes, slow.packets) == (fast.memory_bytes, fast.packets)


def test_a_message_takes_more_memory_with_pfc() -> None:
    """Two such runs at scale paper took 13 GB."""
    without, with_pfc = (effort.effort_of(plan_incast(scheme=scheme)).memory_bytes for scheme in ("irn", "pfc"))
    assert with_pfc - without == plan_incast().columns.size_bytes.size * (3_700 - 350)


def test_the_sample_measures_this_processor() -> None:
    assert effort._sample_work_s() > 0


HOUR_S = 3600.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Replace the monotonic clock by a value that the test sets."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_the_first_estimate_is_the_expected_work_divided_among_the_cores(clock: list[float]) -> None:
    left = TimeLeft({0: HOUR_S, 1: HOUR_S, 2: 2 * HOUR_S}, parallel=2)
    assert left.estimate_s({}) == pytest.approx(2 * HOUR_S)
    assert left.share({}) == 0


def test_a_machine_half_as_fast_needs_twice_as_long(clock: list[float]) -> None:
    left = TimeLeft({number: HOUR_S for number in range(4)}, parallel=2)
    clock[0] += 2 * HOUR_S
    left.end(0)
    assert left.share({1: 1.0}) == 0.5
    assert left.estimate_s({1: 1.0}) == pytest.approx(2 * HOUR_S, rel=0.01)


def test_running_jobs_count_by_their_share(clock: list[float]) -> None:
    left = TimeLeft({0: HOUR_S, 1: HOUR_S}, parallel=2)
    clock[0] += HOUR_S / 2
    assert left.share({0: 0.5, 1: 0.5}) == 0.5
    assert left.estimate_s({0: 0.5, 1: 0.5}) == pytest.approx(HOUR_S / 2)


def test_jobs_of_unknown_effort_have_no_estimate() -> None:
    assert TimeLeft({0: 0.0}, parallel=2).estimate_s({}) is None
