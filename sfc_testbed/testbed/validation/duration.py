# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Estimates the duration of the live runs of `validate` from their plans, and excludes too long ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.jobs.time_left import in_words
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.validation.run import Pair

_MINUTE_S = 60


def wall_seconds(plan: RunPlan) -> float:
    """Return how long a live run's flows take at its dilation.

    The run lasts until the last start plus the time that the busiest host's bytes take at its rate, limited by the
    requested duration.
    """
    flows, hosts = plan.columns, plan.topology.hosts
    ends = np.concatenate([flows.src, flows.dst])
    moved_bytes = np.bincount(ends, np.concatenate([flows.size_bytes, flows.size_bytes]), len(hosts))
    busy_ns = float(np.max(8e9 * moved_bytes / np.array([host.rate_bps for host in hosts]), initial=0.0))
    last_ns = int(np.max(flows.start_ns, initial=0))
    return min(last_ns + busy_ns, plan.config.duration_ms * 1e6) * plan.dilation.factor / 1e9


def not_longer(
    pairs: Sequence[Pair], live: Sequence[RunPlan], longest_minutes: float
) -> tuple[list[Pair], list[RunPlan], list[str]]:
    """Return the pairs whose live run is short enough, the plans of these runs, and a line for each excluded pair.

    Raise UsageError if all pairs are excluded.
    """
    kept, plans, left_out = [], [], []
    for pair, plan in zip(pairs, live, strict=True):
        seconds = wall_seconds(plan)
        if seconds <= longest_minutes * _MINUTE_S:
            kept.append(pair)
            plans.append(plan)
        else:
            left_out.append(
                f"{pair.label}: its live run takes about {in_words(seconds)} at dilation {plan.config.dilation}, "
                f"--longest {longest_minutes:g}"
            )
    if left_out and not kept:
        raise UsageError(left_out[0])
    return kept, plans, left_out


def announcement(plans: Sequence[RunPlan]) -> str | None:
    """Return a line with the expected duration of the live runs, or None if there is none."""
    live = [wall_seconds(plan) for plan in plans if plan.config.clock == "real"]
    if not live:
        return None
    if len(live) == 1:
        return f"the live run takes about {in_words(live[0])}, plus some seconds to start"
    return (
        f"{len(live)} live runs in sequence take about {in_words(sum(live))}, the longest {in_words(max(live))}, "
        "plus some seconds each to start"
    )
