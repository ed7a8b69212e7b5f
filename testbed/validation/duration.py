# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How long the live runs of `validate` take, reckoned from their plans, and which of them are too long."""

from __future__ import annotations

from collections.abc import Sequence

from testbed.dilation.choice import with_dilation
from testbed.errors import UsageError
from testbed.execution.needs import wall_seconds
from testbed.plan.plan import RunPlan, plan_run
from testbed.validation.run import Pair

_MINUTE_S, _HOUR_S = 60, 3600


def in_words(seconds: float) -> str:
    """20 s, 5 min, 2 h 7 min."""
    if seconds < 2 * _MINUTE_S:
        return f"{seconds:.0f} s"
    minutes = round(seconds / _MINUTE_S)
    hours, rest = divmod(minutes, 60)
    return f"{minutes} min" if seconds < 2 * _HOUR_S else f"{hours} h {rest} min"


def not_longer(pairs: Sequence[Pair], longest_minutes: float) -> tuple[list[Pair], list[str]]:
    """The pairs whose live run is expected to end in time, and a line for each other. UsageError if there is none."""
    kept, left_out = [], []
    for pair in pairs:
        plan = with_dilation(plan_run(pair.live))
        seconds = wall_seconds(plan)
        if seconds <= longest_minutes * _MINUTE_S:
            kept.append(pair)
        else:
            left_out.append(
                f"{pair.label}: its live run takes about {in_words(seconds)} at dilation {plan.config.dilation}, "
                f"--longest {longest_minutes:g}"
            )
    if left_out and not kept:
        raise UsageError(left_out[0])
    return kept, left_out


def announcement(plans: Sequence[RunPlan]) -> str | None:
    """What somebody who waits for these runs should know; None if none of them is live."""
    live = [wall_seconds(plan) for plan in plans if plan.config.clock == "real"]
    if not live:
        return None
    if len(live) == 1:
        return f"the live run takes about {in_words(live[0])}, and some seconds to start"
    return (
        f"{len(live)} live runs one after another take about {in_words(sum(live))}, the longest "
        f"{in_words(max(live))}; each some seconds more to start"
    )
