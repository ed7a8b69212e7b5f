# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`runner.py clean`."""

from __future__ import annotations

from typing import Annotated

import typer

from command.output import say
from softswitch.sockets import remove_dead
from testbed.system import run_ids as runs
from testbed.system.cleanup import Cleaned, RunnerEnd, clean


def verb(
    run_ids: Annotated[
        list[str] | None,
        typer.Argument(help="Runs to end even if they live; they may save first.", show_default=False),
    ] = None,
) -> None:
    """Ends the remains of runs."""
    found = clean(run_ids or None, before_waiting=_say_waiting)
    for each in found:
        say(f"{each.run_id}: {_what_was_done(each)}")
    unfinished = [] if run_ids else runs.remove_unfinished()
    for name in unfinished:
        say(f"{runs.STATE_ROOT}/{name}: its runner was killed before the run began, removed")
    for name in [] if run_ids else runs.strangers():
        say(f"{runs.STATE_ROOT}/{name}: no run of this user made it, left alone")
    sockets = 0 if run_ids else remove_dead()
    if sockets:
        say(f"{sockets} sockets of softswitches that were killed: removed")
    if not found and not unfinished and not sockets:
        say("nothing to clean")


def _say_waiting(run_id: str, seconds: float) -> None:
    say(f"{run_id}: still running; asked its runner to save and to end, waiting {seconds:g} s at most")


def _what_was_done(cleaned: Cleaned) -> str:
    rest = f"ended {cleaned.processes} processes"
    if cleaned.runner is RunnerEnd.LEFT_ALONE:
        return "still running, left alone (name it to end it)"
    if cleaned.runner is RunnerEnd.ENDED:
        return f"its runner ended {cleaned.waited_s:.1f} s after it was asked; {rest} that were left"
    if cleaned.runner is RunnerEnd.KILLED:
        return f"its runner did not end within {cleaned.waited_s:.0f} s and was killed, unsaved; {rest} more"
    return rest
