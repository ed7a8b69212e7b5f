# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Child processes: failed starts in one line, lines, and the end by signal and by force."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from os_helpers import child as module
from os_helpers.child import Child, ChildError

STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(60)"
)


def _child(code: str, log: Path | None = None) -> Child:
    return Child("tor1", [sys.executable, "-c", code], log=log)


@pytest.mark.parametrize("has_log", [False, True])
def test_a_failed_start_is_one_line_with_the_last_output(has_log: bool, tmp_path: Path) -> None:
    child = _child(
        "import sys; print('first', file=sys.stderr); sys.exit('no port')", tmp_path / "log" if has_log else None
    )
    place = f"; see {tmp_path.name}/log" if has_log else ""
    with pytest.raises(ChildError) as failed:
        child.wait_for_line("ready", 30)
    assert str(failed.value) == f"before it was ready tor1 ended with status 1 (no port{place})"
    assert child.errors() == "first\nno port"
    child.stop()


def test_a_child_that_is_not_ready_in_time_is_named() -> None:
    child = _child("import time; time.sleep(60)")
    with pytest.raises(ChildError, match=r"^tor1 was not ready within 0\.1 s: no output$"):
        child.wait_for_line("ready", 0.1)
    assert child.stop() == -15


def test_a_child_answers_in_lines_and_keeps_the_unread_ones() -> None:
    child = _child("for line in iter(input, 'end'): print(line, flush=True)\nprint('bye')")
    child.tell("first")
    assert child.wait_for_line("first", 30) == ["first"]
    child.tell("end")
    child._process.wait(30)
    child.stop()
    assert child.rest == ["bye"]


def test_a_child_that_ignores_sigterm_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_STOP_SECONDS", 0.2)
    stopped, asked = _child(STUBBORN), _child(STUBBORN)
    for child in (stopped, asked):
        child.wait_for_line("ready", 30)
    assert stopped.stop() == -9
    asked.ask_to_end(patience_s=0)
    while not asked.has_ended:
        pass
    assert asked.stop() == -9
