# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`sfc-testbed clean`."""

from __future__ import annotations

from typing import Annotated

import typer

from os_helpers.cache import remove_unfinished
from os_helpers.temporary import remove_abandoned
from sfc_testbed.cli.output import say
from sfc_testbed.place import TEMPORARY, command_name
from sfc_testbed.testbed.system import run_ids as runs
from sfc_testbed.testbed.system.cleanup import Cleaned, RunnerEnd, clean
from softswitch.sockets import TEMPORARY as OF_SOFTSWITCH
from softswitch.sockets import remove_dead


def verb(
    run_ids: Annotated[
        list[str] | None,
        typer.Argument(
            help="Run IDs to end, even if they are still running; a running one saves its results first.",
            show_default=False,
        ),
    ] = None,
) -> None:
    cleaned_runs = clean(run_ids or None, before_waiting=_say_waiting)
    for cleaned in cleaned_runs:
        say(f"{cleaned.run_id}: {_what_was_done(cleaned)}")
    unfinished = [] if run_ids else runs.remove_unfinished()
    for name in unfinished:
        say(f"{runs.STATE_ROOT}/{name}: removed; its runner was killed before the run began")
    for name in [] if run_ids else runs.strangers():
        say(f"{runs.STATE_ROOT}/{name}: left alone; no run of this user made it")
    sockets = 0 if run_ids else remove_dead()
    if sockets:
        say(f"removed {sockets} sockets of killed softswitch processes")
    folders = 0 if run_ids else sum(map(remove_abandoned, (TEMPORARY, OF_SOFTSWITCH))) + remove_unfinished()
    if folders:
        say(f"removed {folders} temporary folders of killed processes")
    if not cleaned_runs and not unfinished and not sockets and not folders:
        say("nothing to clean")


def _say_waiting(run_id: str, seconds: float) -> None:
    say(f"{run_id}: still running; asked it to save and end, waiting up to {seconds:g} s")


def _what_was_done(cleaned: Cleaned) -> str:
    rest = f"ended {cleaned.processes} processes"
    if cleaned.runner is RunnerEnd.LEFT_ALONE:
        return f"still running, left alone; {command_name()} clean {cleaned.run_id} ends it"
    if cleaned.runner is RunnerEnd.ENDED:
        return f"its runner ended after {cleaned.waited_s:.1f} s; {rest} that remained"
    if cleaned.runner is RunnerEnd.KILLED:
        return f"its runner did not end within {cleaned.waited_s:.0f} s and was killed without saving; {rest} more"
    return rest
