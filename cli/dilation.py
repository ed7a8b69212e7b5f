# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The line about a live run's dilation that is printed before it starts."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.results.spec import RunConfig
from cli.output import complain
from cli.seeds import named
from testbed.dilation.prediction import LATE_SHARE
from testbed.plan.plan import RunPlan


def dilation_line(config: RunConfig) -> str | None:
    """Return the dilation, the predicted load and lateness, and their source; None without a prediction."""
    choice = config.dilation_choice
    if choice is None:
        return None
    known = f"calibrated {choice.calibrated}" if choice.calibrated else "not calibrated; doctor --calibrate measures"
    line = (
        f"dilation {config.dilation:,}: predicted peak load {100 * choice.peak_load:.0f} % of {choice.cores:.3g} "
        f"cores, lateness {_percent(choice.late_share)} % of base RTT ({known})"
    )
    if choice.late_share <= LATE_SHARE:
        return line
    return f"{line}; " + (f"{choice.enough:,} would do" if choice.enough else "no dilation would do")


def _percent(share: float) -> str:
    return f"{100 * share:.1f}" if share < 0.1 else f"{100 * share:,.0f}"


def say_dilations(plans: Iterable[RunPlan]) -> None:
    """Print the dilation line of each live run on stderr, with the name of the run if there are several."""
    live = [plan for plan in plans if plan.config.clock == "real"]
    for plan, name in zip(live, named(live), strict=True):
        line = dilation_line(plan.config)
        which = f"{plan.config.scenario} {name}: " if len(live) > 1 else ""
        if line is not None:
            complain(f"{which}{line}")
