# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The interval of the goodput trace, which depends on the duration of a run's flows."""

from __future__ import annotations

from collections import Counter

import pytest

from sfc_testbed.scenarios.catalogue import SCENARIOS
from tests.testbed.incasts import plan_incast, plan_virtual


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_at_least_fifty_intervals_fit_into_a_run(scenario: str) -> None:
    plan = plan_virtual(scenario)
    received, sent = Counter[str](), Counter[str]()
    for flow in plan.flows:
        received[flow.dst] += flow.size_bytes
        sent[flow.src] += flow.size_bytes
    busiest_ns = 8e9 * max(*received.values(), *sent.values()) / plan.topology.hosts[0].rate_bps
    least_ns = min(max(busiest_ns, plan.flows[-1].start_ns), plan.config.duration_ms * 1e6)
    assert 50 <= least_ns / plan.transport.goodput_interval_ns <= 125


@pytest.mark.parametrize(
    ("message_bytes", "interval_ns"),
    [(1_000, 1_000), (125_000, 1_000), (625_000, 1_000), (1_250_000, 2_000), (3_125_000, 5_000), (6_250_000, 10_000)],
)
def test_the_interval_is_a_round_number(message_bytes: int, interval_ns: int) -> None:
    """A lone message at 100 Gb/s: 50 intervals of 1 us carry 625 KB, and no interval is shorter than 1 us."""
    plan = plan_incast("sfc", "degree=1", f"message_bytes={message_bytes}", "window_us=0")
    assert plan.transport.goodput_interval_ns == interval_ns


def test_a_short_duration_shortens_the_interval() -> None:
    assert plan_incast("sfc", "message_bytes=1e9", duration_ms=1.0).transport.goodput_interval_ns == 20_000


@pytest.mark.parametrize("setting", ["transport.goodput_interval_ns=30000", "transport.goodput_interval_rtt=3"])
def test_a_set_interval_is_used(setting: str) -> None:
    plan = plan_incast("sfc", setting)
    assert plan.transport.goodput_interval_ns == 30_000
    assert plan.config.transport_settings["goodput_interval_ns"] == 30_000
