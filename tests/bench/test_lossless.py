# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The search for a lossless rate, with simulated switches."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bench.instruments.lossless import LosslessRate, Trial, find_lossless_rate

SECOND_NS = 1_000_000_000
GENERATOR_PPS = 1_000_000


def _switch(capacity_pps: int) -> Callable[[int], Trial]:
    """Return the trials of a switch that drops everything above its capacity."""

    def offer(rate_pps: int) -> Trial:
        offered = min(rate_pps or GENERATOR_PPS, GENERATOR_PPS)
        return Trial(offered, min(offered, capacity_pps), SECOND_NS, 0)

    return offer


@pytest.mark.parametrize("capacity_pps", [8_000, 240_000, 900_000])
def test_search_closes_in_on_capacity_from_below(capacity_pps: int) -> None:
    """The result is at most the capacity, and at most 5 % below it."""
    result = find_lossless_rate(_switch(capacity_pps), trials=8)
    assert 0.95 * capacity_pps <= result.pps <= capacity_pps
    assert not result.is_generators


def test_search_reports_when_the_generator_is_the_limit() -> None:
    result = find_lossless_rate(_switch(2 * GENERATOR_PPS), trials=8)
    assert result == LosslessRate(GENERATOR_PPS, GENERATOR_PPS, True)


def test_second_search_never_lowers_the_first_result() -> None:
    first = find_lossless_rate(_switch(240_000), trials=8)
    second = find_lossless_rate(_switch(100_000), trials=4, known=first)
    assert second.pps == first.pps


def test_failed_rate_is_tried_once_more() -> None:
    """A single disturbance by other work on the machine does not count."""
    undisturbed, tried_rates = _switch(240_000), set()

    def fail_first_trial(rate_pps: int) -> Trial:
        trial = undisturbed(rate_pps)
        if rate_pps and rate_pps not in tried_rates:
            tried_rates.add(rate_pps)
            return Trial(trial.sent, 0, trial.send_ns, 0)
        return trial

    assert find_lossless_rate(fail_first_trial, trials=8).pps >= 0.95 * 240_000


def test_frames_that_arrive_long_after_the_last_was_sent_count_as_lost() -> None:
    """Frames that wait in a kernel buffer must not raise the rate."""
    assert Trial(1000, 1000, SECOND_NS, SECOND_NS // 100).is_lossless
    assert not Trial(1000, 1000, SECOND_NS, SECOND_NS // 10).is_lossless
    assert not Trial(1000, 999, SECOND_NS, 0).is_lossless
