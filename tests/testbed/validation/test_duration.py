# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the expected duration of live runs: it is announced, and too long runs are excluded by name."""

from __future__ import annotations

import pytest

from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.jobs.time_left import in_words
from sfc_testbed.testbed.plan.plan import plan_run
from sfc_testbed.testbed.validation.duration import announcement, not_longer, wall_seconds
from sfc_testbed.testbed.validation.run import Pair


def _pair(scheme: str, message_bytes: int, dilation: int = 10_000) -> Pair:
    settings = ("degree=3", f"message_bytes={message_bytes}")
    return Pair(RunSpec("incast", scheme=scheme, dilation=dilation, settings=parse_settings(settings)))


def test_a_run_takes_as_long_as_its_busiest_host_at_its_dilation() -> None:
    """30 MB at 100 Gb/s take 2.4 ms, which is 24 s at dilation 10 000."""
    seconds = wall_seconds(plan_run(_pair("irn", 10_000_000, 10_000).live))
    assert seconds == pytest.approx(24, rel=0.05)
    assert wall_seconds(plan_run(_pair("irn", 10_000_000, 20_000).live)) == pytest.approx(2 * seconds)


def test_a_pair_that_takes_too_long_is_excluded_by_name_and_refused_if_it_is_the_only_one() -> None:
    pairs = short, long = _pair("sfc", 10_000, 10_000), _pair("irn", 10_000_000, 100_000)
    plans = of_short, of_long = [plan_run(pair.live) for pair in pairs]
    assert not_longer(pairs, plans, 10) == ([short, long], plans, [])
    assert not_longer(pairs, plans, 1) == (
        [short],
        [of_short],
        ["incast irn: its live run takes about 4 min at dilation 100000, --longest 1"],
    )
    with pytest.raises(UsageError, match="incast irn: its live run takes about 4 min"):
        not_longer([long], [of_long], 1)


@pytest.mark.parametrize(
    ("seconds", "words"), [(3.2, "3 s"), (119, "119 s"), (120, "2 min"), (7199, "120 min"), (7260, "2 h 1 min")]
)
def test_durations_are_given_in_seconds_minutes_or_hours(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


def test_only_live_runs_are_announced() -> None:
    """The duration of a virtual run depends on the machine and does not follow from its plan."""
    pair = _pair("irn", 10_000_000)
    virtual, live = plan_run(pair.virtual), plan_run(pair.live)
    assert announcement([virtual]) is None
    one, two = (in_words(times * wall_seconds(live)) for times in (1, 2))
    assert announcement([virtual, live]) == f"the live run takes about {one}, plus some seconds to start"
    assert announcement([live, virtual, live]) == (
        f"2 live runs in sequence take about {two}, the longest {one}, plus some seconds each to start"
    )
