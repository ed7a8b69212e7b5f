# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Calibrations on the terminal: the exact one, the quick one before a first live run, and the stored one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table

from analysis.terminal import Fitted
from cli.output import complain, console, errors, say, warn
from native.first_use import prepare
from testbed.errors import Interrupted, RunError
from testbed.interrupt import interruptible
from testbed.load.costs import ProcessCost
from testbed.load.stored import AGAIN, MOST_BUSY_CORES, Calibration, Stored, store, stored_calibration
from testbed.plan.plan import RunPlan
from testbed.system.limits import cores
from testbed.targets import capabilities

_WITHOUT = "the first live run with --dilation auto measures for some ten seconds"


def calibrate(*, is_forced: bool) -> None:
    """Measure exactly, store and print. UsageError if this machine cannot, or is busy and `is_forced` is false."""
    capabilities.require("real", "soft", has_virtual=False)
    from testbed.calibration.exact import check_idle, measured  # loads Mininet, which is there now

    before = check_idle(is_forced=is_forced)
    prepare()  # measure the compiled engine
    with interruptible() as interrupt:
        try:
            with errors.status("calibrating, which takes about a minute") as status:
                found = measured(before, interrupt, lambda what: status.update(f"calibrating: {what}"))
        except KeyboardInterrupt as error:
            raise Interrupted("nothing was stored") from error
        if found.load_before > MOST_BUSY_CORES:
            warn(f"other processes kept {found.load_before:.2f} cores busy meanwhile")
        try:
            path = store(found)
        except OSError as error:
            raise RunError(f"the calibration could not be stored: {error}") from error
    _show(found)
    say(f"stored in {path}")


def calibrate_first(plans: Sequence[RunPlan]) -> None:
    """Measure the targets of live runs with an automatic dilation that were never measured here.

    A measurement that fails is one line, and the built-in costs stay.
    """
    chosen = [plan.config for plan in plans if plan.config.clock == "real" and plan.config.is_dilation_automatic]
    measured = stored_calibration().costs.switches
    missing = [switch for switch in dict.fromkeys(config.switch for config in chosen) if switch not in measured]
    for switch in missing:
        _calibrate_quickly(switch)


def _calibrate_quickly(switch: str) -> None:
    from testbed.calibration.quick import quick_calibration  # loads Mininet, which is there now

    earlier = stored_calibration().calibration
    what = "this machine" if earlier is None else f"this machine with --switch {switch}"
    complain(f"first live run on {what}: measuring for some ten seconds how fast it can be")
    with interruptible() as interrupt:
        try:
            calibration = quick_calibration(switch, interrupt, earlier)
            store(calibration)
        except KeyboardInterrupt as error:
            raise Interrupted("nothing was stored") from error
        except (RunError, OSError) as error:
            warn(f"not measured: {error}; --dilation auto uses built-in costs, which are meant to be too large")
            return
    if calibration.load_before > MOST_BUSY_CORES:
        busy = f"{calibration.load_before:.1f} of {cores()} cores"
        warn(f"other processes keep {busy} busy, so this measurement counts for ten minutes; {AGAIN}")


def print_calibration() -> None:
    """Print the stored calibration, when it was measured, and whether it applies to this machine."""
    stored = stored_calibration()
    if stored.calibration is not None:
        _show(stored.calibration)
        edited = "" if stored.calibration.is_of_this_code else "The code of hosts and switches has changed since. "
        say(f"--dilation auto uses this calibration. {edited}{AGAIN}.")
        return
    say(f"This machine is not calibrated: {_why_not(stored)}{_WITHOUT}; {AGAIN}.")


def _why_not(stored: Stored) -> str:
    return f"{stored.problem}; " if stored.problem else ""


def _show(found: Calibration) -> None:
    table = Table(box=None, padding=(0, 3, 0, 0))
    table.add_column("calibration")
    for heading in ("frame among many", "lone frame", "waking", "spread"):
        table.add_column(heading, justify="right")
    rows = {"agent (packet end)": found.agent, **{f"switch ({name})": each for name, each in found.switches.items()}}
    for name, cost in rows.items():
        table.add_row(name, *_cells(cost))
    console.print(Fitted(table))
    message = found.message
    say(
        f"a message, besides its frames: {message.agent_ns / 1e3:.0f} us of an agent at each end, "
        f"{message.runner_ns / 1e3:.0f} us of the runner"
    )
    for name, wakeup in found.wakeups.items():
        late = ", ".join(
            f"{part} {value / 1e3:,.0f} us"
            for part, value in (("P50", wakeup.p50_ns), ("P99", wakeup.p99_ns), ("max", wakeup.max_ns))
        )
        say(f"late wake-ups of an {name}: {late}" if name == "agent" else f"late wake-ups of a {name}: {late}")
    how = "in seconds, before a live run" if found.is_quick else "exactly"
    say(
        f"Measured {how}, on {found.measured:%Y-%m-%d %H:%M} UTC on {found.cores} cores ({found.cpu_model}), which "
        f"gave processes {found.capacity_cores:.2f} cores together; other processes used {found.load_before:.2f}."
    )


def _cells(cost: ProcessCost) -> Iterator[str]:
    yield f"{cost.frame_ns / 1e3:.1f} us"
    yield f"{cost.lone_frame_ns / 1e3:.1f} us"
    yield f"{100 * cost.fixed_share:.1f} % of a core"
    yield f"{100 * cost.spread:.0f} %"
