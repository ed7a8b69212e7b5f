# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""runner.py that kills itself at a given moment: `python -m tests.testbed.killed MOMENT NOTES WORD...`.

A moment is `module:name.of.a.callable:before|after:n`, where n counts the calls. The process sends itself SIGKILL, so
the moment does not depend on the machine's load. At every save a line with the number of finished flows is appended to
the file NOTES. A report must contain at least these flows.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sfc_testbed.testbed.recording.recorder
import sfc_testbed.testbed.virtual.simulation
from sfc_testbed.cli.app import main
from sfc_testbed.testbed.recording.recorder import Recorder


def hook(where: str, call: Callable[[Any], Any], *, after: bool) -> None:
    """Call `call` with the first argument before or after each call of the function that `where` names."""
    module, _, path = where.partition(":")
    *owners, name = path.split(".")
    owner = importlib.import_module(module)
    for owner_name in owners:
        owner = getattr(owner, owner_name)
    original = getattr(owner, name)

    def hooked(*arguments: Any, **named: Any) -> Any:
        if not after:
            call(arguments[0])
        result = original(*arguments, **named)
        if after:
            call(arguments[0])
        return result

    setattr(owner, name, hooked)


def kill_at(moment: str) -> None:
    where, side, number = moment.rsplit(":", 2)
    remaining = [int(number)]

    def count_down(_: Any) -> None:
        remaining[0] -= 1
        if not remaining[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    hook(where, count_down, after=side == "after")


def note_saves(notes: Path) -> None:
    """Append the number of finished flows to a file at each save."""

    def note(recorder: Recorder) -> None:
        with notes.open("a") as file:
            file.write(f"{recorder.ends.completed}\n")

    hook("sfc_testbed.testbed.recording.recorder:Recorder.save", note, after=True)


if __name__ == "__main__":
    sfc_testbed.testbed.recording.recorder.SAVE_SECONDS = 0.0 if "virtual" in sys.argv else 0.1
    sfc_testbed.testbed.recording.recorder.SAVE_SHARE = float("inf")
    sfc_testbed.testbed.virtual.simulation._PROGRESS_TURNS = 25
    note_saves(Path(sys.argv[2]))  # before `kill_at`, so that a save is noted before the kill
    kill_at(sys.argv[1])
    sys.exit(main(sys.argv[3:]))
