# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the expected processor time of a run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sfc_testbed.testbed.jobs import effort
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


def test_the_sample_measures_this_processor() -> None:
    assert effort._sample_work_s() > 0
