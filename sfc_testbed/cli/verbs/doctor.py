# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`sfc-testbed doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from sfc_testbed.analysis.terminal import PROSE, Fitted
from sfc_testbed.cli.output import console, errors, say, warn
from sfc_testbed.native.first_use import prepare
from sfc_testbed.place import command_as_root
from sfc_testbed.testbed.errors import Interrupted, RunError, UsageError
from sfc_testbed.testbed.interrupt import interruptible
from sfc_testbed.testbed.speed.costs import ProcessCost
from sfc_testbed.testbed.speed.stored import AGAIN, MOST_BUSY_CORES, Calibration, store, stored_calibration
from sfc_testbed.testbed.targets.capabilities import CAPABILITIES, Capability, require


def verb(
    *,
    measure: Annotated[
        bool,
        typer.Option(
            "--calibrate", help="Measure the speed of this machine for --dilation auto; takes a minute, needs root."
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Calibrate even if the machine is busy.")] = False,
) -> None:
    if measure:
        _calibrate(is_forced=force)
        return
    if force:
        raise UsageError("--force needs --calibrate")
    table = Table(box=None, padding=(0, 3, 0, 0))
    table.add_column("capability")
    for heading in ("needed for", "state"):
        table.add_column(heading, ratio=PROSE)
    for capability in CAPABILITIES:
        table.add_row(Text(capability.name), Text(capability.needed_for), _state(capability))
    console.print(Fitted(table))
    console.print()
    _print_calibration()


def _state(capability: Capability) -> Text:
    if capability.is_unknown:
        return Text.assemble(("unknown", "yellow"), f": only root can check it; use {command_as_root()} doctor")
    missing = capability.probe()
    return Text("available", "green") if missing is None else Text.assemble(("missing", "yellow"), f": {missing}")


def _calibrate(*, is_forced: bool) -> None:
    """Measure exactly, store and print. UsageError if this machine cannot, or is busy and `is_forced` is false."""
    require("real", "soft", has_virtual=False)
    from sfc_testbed.testbed.speed.measurement import check_idle, measured  # loads Mininet, which is there now

    before = check_idle(is_forced=is_forced)
    prepare()  # measure the compiled engine
    with interruptible() as interrupt:
        try:
            with errors.status("calibrating, which takes about a minute") as status:
                calibration = measured(before, interrupt, lambda what: status.update(f"calibrating: {what}"))
        except KeyboardInterrupt as error:
            raise Interrupted("nothing was stored") from error
        if calibration.load_before > MOST_BUSY_CORES:
            warn(f"other processes kept {calibration.load_before:.2f} cores busy meanwhile")
        try:
            path = store(calibration)
        except OSError as error:
            raise RunError(f"the calibration could not be stored: {error}") from error
    _show(calibration)
    say(f"stored in {path}")


def _print_calibration() -> None:
    """Print the stored calibration, when it was measured, and whether it applies to this machine."""
    stored = stored_calibration()
    if stored.calibration is not None:
        _show(stored.calibration)
        edited = "" if stored.calibration.is_of_this_code else "The code of hosts and switches has changed since. "
        is_expired = stored.calibration.is_expired
        use = "The next live run measures again" if is_expired else "--dilation auto uses this calibration"
        say(f"{edited}{use}. {AGAIN}.")
        return
    problem = f"{stored.problem}; " if stored.problem else ""
    first = "the first live run with --dilation auto measures for some ten seconds"
    say(f"This machine is not calibrated: {problem}{first}; {AGAIN}.")


def _show(calibration: Calibration) -> None:
    table = Table(box=None, padding=(0, 3, 0, 0))
    table.add_column("calibration")
    for heading in ("frame among many", "lone frame", "waking", "spread"):
        table.add_column(heading, justify="right")
    rows = {"agent (packet end)": calibration.agent}
    rows |= {f"switch ({name})": cost for name, cost in calibration.switches.items()}
    for name, cost in rows.items():
        table.add_row(name, *_cells(cost))
    console.print(Fitted(table))
    message = calibration.message
    say(
        f"a message, besides its frames: {message.agent_ns / 1e3:.0f} us of an agent at each end, "
        f"{message.runner_ns / 1e3:.0f} us of the runner"
    )
    for name, wakeup in calibration.wakeups.items():
        late = ", ".join(
            f"{part} {value / 1e3:,.0f} us"
            for part, value in (("P50", wakeup.p50_ns), ("P99", wakeup.p99_ns), ("max", wakeup.max_ns))
        )
        say(f"late wake-ups of {'an' if name == 'agent' else 'a'} {name}: {late}")
    how = "in seconds, before a live run" if calibration.is_quick else "exactly"
    say(
        f"Measured {how}, on {calibration.measured:%Y-%m-%d %H:%M} UTC on {calibration.cores} cores "
        f"({calibration.cpu_model}), which gave processes {calibration.capacity_cores:.2f} cores together; other "
        f"processes used {calibration.load_before:.2f}."
    )


def _cells(cost: ProcessCost) -> Iterator[str]:
    yield f"{cost.frame_ns / 1e3:.1f} us"
    yield f"{cost.lone_frame_ns / 1e3:.1f} us"
    yield f"{100 * cost.fixed_share:.1f} % of a core"
    yield f"{100 * cost.spread:.0f} %"
