# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The search for a lossless rate, on switches that are nothing but a formula."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bench.instruments.lossless import LosslessRate, Trial, find_lossless_rate

SECOND_NS = 1_000_000_000
GENERATOR_PPS = 1_000_000


def _switch(capacity_pps: int, generator_pps: int = GENERATOR_PPS) -> Callable[[int], Trial]:
    """A switch that drops what is above its capacity."""

    def offer(rate_pps: int) -> Trial:
        offered = min(rate_pps or generator_pps, generator_pps)
        return Trial(offered, min(offered, capacity_pps), SECOND_NS, 0)

    return offer


@pytest.mark.parametrize("capacity_pps", [8_000, 240_000, 900_000])
def test_search_closes_in_on_capacity_from_below(capacity_pps: int) -> None:
    """The outcome passes and lies within a few percent of what the switch can do."""
    found = find_lossless_rate(_switch(capacity_pps), trials=8)
    assert 0.95 * capacity_pps <= found.pps <= capacity_pps
    assert not found.is_generators


def test_search_says_when_the_generator_is_the_limit() -> None:
    """A switch faster than the generator is not given a rate of its own."""
    found = find_lossless_rate(_switch(2 * GENERATOR_PPS), trials=8)
    assert found == LosslessRate(GENERATOR_PPS, GENERATOR_PPS, True)


def test_second_search_only_raises_the_first() -> None:
    """What passed once has passed."""
    first = find_lossless_rate(_switch(240_000), trials=8)
    second = find_lossless_rate(_switch(100_000), trials=4, known=first)
    assert second.pps == first.pps


def test_failed_rate_is_tried_once_more() -> None:
    """One hiccup of the machine does not count."""
    good, seen = _switch(240_000), set()

    def hiccups(rate_pps: int) -> Trial:
        trial = good(rate_pps)
        if rate_pps and rate_pps not in seen:
            seen.add(rate_pps)
            return Trial(trial.sent, 0, trial.send_ns, 0)
        return trial

    assert find_lossless_rate(hiccups, trials=8).pps >= 0.95 * 240_000


def test_frames_that_come_long_after_the_last_was_sent_count_as_lost() -> None:
    """A kernel buffer is no speed."""
    assert Trial(1000, 1000, SECOND_NS, SECOND_NS // 100).is_lossless
    assert not Trial(1000, 1000, SECOND_NS, SECOND_NS // 10).is_lossless
    assert not Trial(1000, 999, SECOND_NS, 0).is_lossless
