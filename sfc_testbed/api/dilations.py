# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Calibrations before a first live run, and the dilations of live runs as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sfc_testbed.api.reporter import WARNING, Reporter
from sfc_testbed.request.spec import RunConfig
from sfc_testbed.testbed.errors import Interrupted, RunError
from sfc_testbed.testbed.interrupt import interruptible
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.speed.dilation import LATE_SHARE
from sfc_testbed.testbed.speed.stored import AGAIN, MOST_BUSY_CORES, Calibration, store, stored_calibration
from sfc_testbed.testbed.system.limits import cores


def calibrate_first(plans: Sequence[RunPlan], reporter: Reporter) -> None:
    """Measure the targets of live runs with an automatic dilation that were never measured here, or too long ago.

    A measurement that fails is one line, and the costs stay.
    """
    chosen = [plan.config for plan in plans if plan.config.clock == "real" and plan.config.is_dilation_automatic]
    if not chosen:
        return
    calibration = _unexpired()
    measured = calibration.switches if calibration else ()
    missing = [switch for switch in dict.fromkeys(config.switch for config in chosen) if switch not in measured]
    for switch in missing:
        _calibrate_quickly(switch, reporter)


def _unexpired() -> Calibration | None:
    calibration = stored_calibration().calibration
    return None if calibration is None or calibration.is_expired else calibration


def _calibrate_quickly(switch: str, reporter: Reporter) -> None:
    from sfc_testbed.testbed.speed.measurement import quick_calibration  # loads Mininet, which is there now

    earlier = _unexpired()
    what = "this machine" if earlier is None else f"this machine with --switch {switch}"
    has_expired = earlier is None and stored_calibration().calibration is not None
    why = "the last measurement has expired" if has_expired else f"first live run on {what}"
    reporter.note(f"{why}: measuring for some ten seconds how fast it can be")
    with interruptible() as interrupt:
        try:
            calibration = quick_calibration(switch, interrupt, earlier)
            store(calibration)
        except KeyboardInterrupt as error:
            raise Interrupted("nothing was stored") from error
        except (RunError, OSError) as error:
            known = stored_calibration().calibration
            used = "the last measurement" if known else "built-in costs, which are meant to be too large"
            reporter.note(f"! not measured: {error}; --dilation auto uses {used}", WARNING)
            return
    if calibration.load_before > MOST_BUSY_CORES:
        busy = f"{calibration.load_before:.1f} of {cores()} cores"
        reporter.note(
            f"! other processes keep {busy} busy, so this measurement counts for ten minutes; {AGAIN}", WARNING
        )


def dilation_line(config: RunConfig) -> str | None:
    """Return the dilation, the predicted load and lateness, and their source; None without a prediction."""
    choice = config.dilation_choice
    if choice is None:
        return None
    source = f"calibrated {choice.calibrated}" if choice.calibrated else "not calibrated; doctor --calibrate measures"
    line = (
        f"dilation {config.dilation:,}: predicted peak load {100 * choice.peak_load:.0f} % of {choice.cores:.3g} "
        f"cores, lateness {_percent(choice.late_share)} % of base RTT ({source})"
    )
    if choice.late_share <= LATE_SHARE:
        return line
    return f"{line}; " + (f"{choice.enough:,} would do" if choice.enough else "no dilation would do")


def _percent(share: float) -> str:
    return f"{100 * share:.1f}" if share < 0.1 else f"{100 * share:,.0f}"


def note_dilations(plans: Iterable[RunPlan], reporter: Reporter) -> None:
    """Report the dilation line of each live run, with the name of the run if there are several."""
    live = [plan for plan in plans if plan.config.clock == "real"]
    for plan, name in zip(live, named(live), strict=True):
        line = dilation_line(plan.config)
        which = f"{plan.config.scenario} {name}: " if len(live) > 1 else ""
        if line is not None:
            reporter.note(f"{which}{line}")


def named(plans: Sequence[RunPlan]) -> list[str]:
    """Return a name for each plan: scheme and program, with the seed if there are several seeds."""
    has_seeds = len({plan.config.seed for plan in plans}) > 1
    return [f"{plan.config.variant}{f', seed {plan.config.seed}' if has_seeds else ''}" for plan in plans]
