# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the estimate of the time that jobs still need."""

from __future__ import annotations

import time

import pytest

from sfc_testbed.testbed.jobs.time_left import TimeLeft

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
