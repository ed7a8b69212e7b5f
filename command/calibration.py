# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What was measured of this machine, on the terminal: measuring it, and showing what is stored."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from analysis.terminal.fitted import Fitted
from command.output import console, errors, say
from compiled.first_use import prepare
from testbed.errors import Interrupted, RunError
from testbed.execution import capabilities
from testbed.interrupt import interruptible
from testbed.load.stored import AGAIN, Calibration, Known, ProcessFinding, known, store
from testbed.system.limits import check_process

_HOW = "--dilation auto reckons with numbers that are meant to be too much"


def calibrate(*, is_forced: bool) -> None:
    """Measures, stores and shows it. UsageError where that cannot be, or the machine is busy and nobody forces it."""
    capabilities.require("real", "soft", has_virtual=False)
    check_process()
    from testbed.calibration.measure import MOST_BUSY_CORES, check_idle, measured  # Mininet, which is there

    before = check_idle(is_forced=is_forced)
    prepare()  # what is measured is what will run
    with interruptible() as interrupt:
        try:
            with errors.status("calibrating, which takes about a minute") as status:
                found = measured(before, interrupt, lambda what: status.update(f"calibrating: {what}"))
        except KeyboardInterrupt as error:
            raise Interrupted("nothing was stored") from error
        if found.load_before > MOST_BUSY_CORES:
            errors.print(f"! other processes kept {found.load_before:.2f} cores busy meanwhile", style="yellow")
        try:
            path = store(found)
        except OSError as error:
            raise RunError(f"what was measured could not be stored: {error}") from error
    _show(found)
    say(f"stored in {path}")


def print_calibration() -> None:
    """What is stored, when it was measured, and whether it counts here."""
    stored = known()
    if stored.calibration is not None:
        _show(stored.calibration)
        say(f"It counts for --dilation auto; {AGAIN}.")
        return
    say(f"This machine is not calibrated: {_why_not(stored)}{_HOW}; {AGAIN}.")


def _why_not(stored: Known) -> str:
    return f"{stored.problem}. So " if stored.problem else ""


def _show(found: Calibration) -> None:
    table = Table(box=None, padding=(0, 3, 0, 0))
    table.add_column("calibration")
    for heading in ("frame among many", "lone frame", "waking", "spread"):
        table.add_column(heading, justify="right")
    rows = {"agent (packet end)": found.agent, **{f"switch ({name})": each for name, each in found.switches.items()}}
    for name, finding in rows.items():
        table.add_row(name, *_cells(finding))
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
    say(
        f"Measured {found.measured:%Y-%m-%d %H:%M} UTC on {found.cores} cores ({found.cpu_model}), "
        f"{found.load_before:.2f} of them busy with other things."
    )


def _cells(finding: ProcessFinding) -> Iterator[str]:
    yield f"{finding.frame_ns / 1e3:.1f} us"
    yield f"{finding.lone_frame_ns / 1e3:.1f} us"
    yield f"{100 * finding.fixed_share:.1f} % of a core"
    yield f"{100 * finding.spread:.0f} %"
