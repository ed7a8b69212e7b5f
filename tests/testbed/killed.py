# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""runner.py that is killed at a chosen moment: `python -m tests.testbed.killed MOMENT NOTES WORD...`.

A moment is `module:name.of.a.callable:before|after:n`, the n-th time that it is called. The process sends itself
SIGKILL there, so a moment is the same whatever the machine's load. At every save the file NOTES gets a line with how
many flows had finished: what a report must not fall behind.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import testbed.recording.recorder
import testbed.virtual.simulation
from command.app import main
from testbed.recording.recorder import Recorder


def hook(where: str, call: Callable[[Any], Any], *, after: bool) -> None:
    """Has `call` called with the first argument before or after each call of what `where` names."""
    module, _, path = where.partition(":")
    *owners, name = path.split(".")
    owner = importlib.import_module(module)
    for each in owners:
        owner = getattr(owner, each)
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
    """Has this process killed then."""
    where, side, number = moment.rsplit(":", 2)
    left = [int(number)]

    def count_down(_: Any) -> None:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    hook(where, count_down, after=side == "after")


def note_saves(notes: Path) -> None:
    """Has what each save saved written down."""

    def note(recorder: Recorder) -> None:
        with notes.open("a") as file:
            file.write(f"{recorder.completed}\n")

    hook("testbed.recording.recorder:Recorder.save", note, after=True)


if __name__ == "__main__":
    testbed.recording.recorder.SAVE_SECONDS = 0.0 if "virtual" in sys.argv else 0.1
    testbed.recording.recorder.SAVE_SHARE = float("inf")
    testbed.virtual.simulation._PROGRESS_TURNS = 25
    note_saves(Path(sys.argv[2]))  # before what kills, so that it is noted first
    kill_at(sys.argv[1])
    sys.exit(main(sys.argv[3:]))
