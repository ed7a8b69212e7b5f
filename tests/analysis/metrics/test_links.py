# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the figures of equal-cost links, with values computed by hand."""

from __future__ import annotations

import polars as pl
import pytest

from sfc_testbed.analysis.metrics.links import LinkGroup, busiest_group, link_balance, rates_gbps
from sfc_testbed.telemetry.schema import LINKS
from tests.analysis.conftest import frame_of

GROUPS = {"tor1": [(5, 6)], "tor2": [(5, 6)]}


def _links(*rows: tuple[float, str, int, int]) -> pl.DataFrame:
    return frame_of(LINKS, [(*row, 0, 0) for row in rows])


def test_the_mean_over_groups_is_weighted_by_bytes() -> None:
    """tor1 sends 300 and 100 B, tor2 only 400 B on one link: Jain's index 0.8 and 0.5, largest over mean 1.5 and 2."""
    links = _links((20, "tor1", 5, 300), (20, "tor1", 6, 100), (40, "tor2", 6, 400), (20, "tor1", 1, 9_999))
    balance = link_balance(links, GROUPS)
    assert balance is not None
    assert (balance.groups, balance.sent_bytes) == (2, 800)
    assert balance.jain_index == pytest.approx((0.8 + 0.5) / 2)
    assert balance.largest_over_mean == pytest.approx((1.5 + 2) / 2)
    assert balance.spread_100us is None, "the trace is shorter than an interval"


def test_the_spread_is_computed_by_interval() -> None:
    """Each link is alone in one of two intervals: the sums are equal, but (largest - smallest) / mean is 2."""
    links = _links((20, "tor1", 5, 500), (100, "tor1", 5, 500), (120, "tor1", 6, 1_000), (200, "tor1", 6, 0))
    balance = link_balance(links, GROUPS)
    assert balance is not None
    assert balance.jain_index == balance.largest_over_mean == 1.0
    assert balance.spread_100us == pytest.approx(2.0)


def test_spread_weighs_intervals_by_their_bytes() -> None:
    """The links send 300 and 100 B (spread 1), then 50 and 50 B (spread 0): (400 * 1 + 100 * 0) / 500 is 0.8."""
    links = _links((60, "tor1", 5, 300), (100, "tor1", 6, 100), (160, "tor1", 5, 50), (180, "tor1", 6, 50))
    balance = link_balance(links, GROUPS)
    assert balance is not None
    assert balance.spread_100us == pytest.approx(0.8)


def test_only_intervals_that_end_in_the_window_count() -> None:
    links = _links((20, "tor1", 5, 300), (40, "tor1", 5, 100), (40, "tor1", 6, 100), (60, "tor1", 6, 999))
    balance = link_balance(links, GROUPS, (20, 40))
    assert balance is not None
    assert (balance.sent_bytes, balance.jain_index) == (200, 1.0)


def test_without_equal_cost_links_or_traffic_there_are_no_figures() -> None:
    links = _links((20, "tor1", 1, 300))
    assert link_balance(links, GROUPS) is None
    assert link_balance(links, {}) is None
    assert busiest_group(LINKS.empty(), GROUPS) is None


def test_damaged_times_take_no_more_memory() -> None:
    links = _links((20, "tor1", 5, 1_250), (40, "tor1", 5, 1_250), (1e300, "tor1", 6, 1), (float("inf"), "tor1", 6, 1))
    ends_us, rates = rates_gbps(links, LinkGroup("tor1", (5, 6)))
    assert ends_us.size == rates[5].size == rates[6].size <= 1_000_001
    assert link_balance(links, {"tor1": [(5, 6, 1 << 40), ()]}) is not None


def test_rates_of_the_busiest_group_have_no_gaps() -> None:
    """1250 B in 20 us are 0.5 Gb/s. No link of the group sent anything in the second interval."""
    links = _links((20, "tor2", 5, 1_250), (60, "tor2", 5, 2_500), (80, "tor2", 6, 1_250), (20, "tor1", 5, 9))
    group = busiest_group(links, GROUPS)
    assert group == LinkGroup("tor2", (5, 6))
    ends_us, rates = rates_gbps(links, group)
    assert ends_us.tolist() == [20, 40, 60, 80]
    assert rates[5] == pytest.approx([0.5, 0, 1, 0])
    assert rates[6] == pytest.approx([0, 0, 0, 0.5])
