# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for progress on a terminal: a run shows every stage, and Ctrl-C in any stage ends it in one line."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.testbed import running

SMALL = ("--clock", "virtual", "--set", "degree=2", "--set", "message_bytes=20000")
LONG = ("--clock", "virtual", "--set", "message_bytes=200000000", "--duration", "10000")
STAGES = ("planning", "starting", "simulating", "writing results")
_ERASED_LINE = b"\x1b[2K"
_CONTROL = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")


def _on_terminal(words: Sequence[str], moments: Sequence[str] = ()) -> tuple[int, str]:
    """Run a command on a terminal, send SIGINT as each of the texts appears, and return the status and the output."""
    near, far = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "200"}
    process = subprocess.Popen(
        running.command(*words), stdin=far, stdout=far, stderr=far, env=environment, start_new_session=True
    )
    os.close(far)
    output, waiting = b"", list(moments)
    while piece := _read(near):
        output += piece
        while waiting and waiting[0].encode() in _CONTROL.sub(b"", output):
            waiting.pop(0)
            process.send_signal(signal.SIGINT)
    os.close(near)
    assert not waiting, output
    return process.wait(), _CONTROL.sub(b"", output.replace(_ERASED_LINE, b"\n")).decode()


def _read(descriptor: int) -> bytes:
    """Return the next output; nothing once the command has closed the terminal, which Linux reports as an error."""
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:
        return b""


def _last_line(output: str) -> str:
    return output.replace("\r", "\n").rstrip().splitlines()[-1]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_run_shows_its_stages(workers: str, tmp_path: Path) -> None:
    words = ["run", "incast", *SMALL, "--topology", "clos", "--workers", workers, "--out", str(tmp_path)]
    status, output = _on_terminal(words)
    assert status == 0, output
    places = [output.find(stage) for stage in STAGES]
    assert -1 not in places, output
    assert places == sorted(places)


@pytest.mark.parametrize("stage", STAGES)
def test_ctrl_c_in_any_stage_ends_a_run_in_one_line(stage: str, tmp_path: Path) -> None:
    traffic = LONG if stage == "simulating" else SMALL
    status, output = _on_terminal(["run", "incast", *traffic, "--out", str(tmp_path)], [stage])
    assert "Traceback" not in output
    assert status == 130, output
    line = _last_line(output)
    assert line.startswith("runner.py: interrupted"), output
    folders = list(tmp_path.iterdir())
    if not folders:
        assert stage in STAGES[:3]
        return
    result = json.loads((folders[0] / "result.json").read_text())
    assert result["interrupted"] is (stage in STAGES[:3])
    assert line.endswith(f"`./runner.py report {folders[0]}` draws its page")
    assert not (folders[0] / "report.html").exists()


@pytest.mark.parametrize("second", ["press Ctrl-C again to end without them", "writing results"])
def test_a_second_ctrl_c_drops_the_figures(second: str, tmp_path: Path) -> None:
    """The second Ctrl-C may come too late to drop them."""
    status, output = _on_terminal(["run", "incast", *LONG, "--out", str(tmp_path)], ["% done", second])
    assert status == 130, output
    assert "Traceback" not in output


@pytest.mark.parametrize("moment", ["planning", "% done"])
@pytest.mark.parametrize("verb", ["compare", "sweep", "reproduce"])
def test_ctrl_c_ends_many_runs_in_one_line(verb: str, moment: str, tmp_path: Path) -> None:
    file = tmp_path / "sweep.yaml"
    file.write_text("name: s\nscenario: incast\nschemes: [irn, sfc]\nsettings: {message_bytes: 20000000}\n")
    words = {
        "compare": ["compare", "incast", *LONG],
        "sweep": ["sweep", str(file)],
        "reproduce": ["reproduce", "signaling"],
    }
    status, output = _on_terminal([*words[verb], "--out", str(tmp_path / "runs")], [moment])
    assert "Traceback" not in output
    assert status == 130, output
    assert _last_line(output).startswith("runner.py: interrupted"), output
