# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the command's console: text from files and users is shown without control characters or markup."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sfc_testbed.analysis.terminal import PROSE, Fitted
from sfc_testbed.api.console import TextConsole
from sfc_testbed.api.progress import JobProgress, RunProgress
from sfc_testbed.cli.output import complain, console, say, say_json
from sfc_testbed.testbed.jobs.job import JobsState
from tests.testbed import running

STEERING = "\x1b[2J\x9b31m\x7f\u202e\u2066\udc80"
SHOWN = r"\x1b[2J\x9b31m\x7f\u202e\u2066\udc80"
MARKUP = "[bold]a[/nothing] :smile: [link=http://b]"


def _printed(renderable: object, width: int = 200) -> str:
    text_console = TextConsole()
    text_console.width = width
    with text_console.capture() as capture:
        text_console.print(renderable)
    return capture.get()


@pytest.mark.parametrize("kind", [str, Text])
def test_control_characters_of_a_text_become_escapes(kind: type[str] | type[Text]) -> None:
    assert _printed(kind(f"a{STEERING}b\nc")) == f"a{SHOWN}b\nc\n"


@pytest.mark.parametrize("kind", [str, Text])
def test_markup_and_emoji_codes_stay_as_typed(kind: type[str] | type[Text]) -> None:
    table = Table(MARKUP)
    table.add_row(kind(MARKUP))
    assert _printed(kind(MARKUP)) == f"{MARKUP}\n"
    assert _printed(table).count(MARKUP) == 2


@pytest.mark.parametrize("kind", [str, Text])
def test_a_table_cuts_nothing_off_an_escaped_cell(kind: type[str] | type[Text]) -> None:
    """An escape is wider than the character whose width the table has measured."""
    table = Table(box=None, show_header=False)
    table.add_column(ratio=PROSE)
    table.add_column()
    table.add_row(kind(STEERING * 4), "end")
    output = _printed(Fitted(table), width=40)
    assert "".join(output.replace("end", "").split()) == SHOWN * 4


def test_a_line_stays_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"a\nrunner.py: all is well{STEERING}")
    complain(f"b\r\nc{STEERING}", "red")
    output = capsys.readouterr()
    assert output.out == f"a\\nrunner.py: all is well{SHOWN}\n"
    assert output.err == f"b\\r\\nc{SHOWN}\n"


def test_names_in_a_progress_bar_are_text(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr(console, "_force_terminal", True)
    monkeypatch.setattr(console, "is_interactive", True)
    monkeypatch.setattr(console, "_file", written)
    with RunProgress(f"incast {MARKUP}{STEERING}", console) as progress:
        progress.hottest_buffer(MARKUP, 3)
    with JobProgress(console) as jobs:
        jobs.tell(JobsState(1, 2, f"{MARKUP}{STEERING}"))
    assert written.getvalue().count("[/nothing]") > 1
    for sequence in ("\x1b[2J", "\x9b", "\x7f", "\u202e"):
        assert sequence not in written.getvalue()


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_json_has_the_same_content_for_every_terminal(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    content = {"µ": f"10 µs {STEERING} 😄"}
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding))
    say_json(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    sys.stdout.flush()
    text = written.getvalue().decode(encoding)
    assert json.loads(text) == content
    assert text.replace("\n", "").isprintable()
    assert ("µ" in text) == (encoding != "ascii")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
@pytest.mark.parametrize(
    "words", [["list", "incast"], ["--help"], ["run", "no-µ"], ["report", "no-µ"]], ids=lambda words: words[0]
)
def test_the_command_works_on_terminals_of_any_encoding(words: list[str], encoding: str) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run(running.command(*words), env=environment, capture_output=True, check=False)
    output = done.stdout.decode(encoding) + done.stderr.decode(encoding)
    assert done.returncode == (0 if words[0] in ("list", "--help") else 2), output
    assert "Traceback" not in output
    if words[0] != "--help":
        assert ("µ" in output, r"\xb5" in output) == (encoding != "ascii", encoding == "ascii")


def test_a_run_in_a_notebook_prints_no_escapes_and_draws_its_page(tmp_path: Path) -> None:
    """Jupyter's kernel sets these variables for itself, and the commands of a notebook inherit them."""
    jupyter = {
        "MPLBACKEND": "missing_here",  # as the inline backend, which this environment may lack
        "FORCE_COLOR": "1",
        "CLICOLOR_FORCE": "1",
        "TTY_COMPATIBLE": "1",
        "TERM": "xterm-color",
        "JPY_PARENT_PID": "1",
    }
    words = ["run", "incast", "--clock", "virtual", "--set", "degree=2", "--set", "message_bytes=20000"]
    done = running.run(*words, "--out", str(tmp_path), env={**os.environ, **jupyter})
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert len(list(tmp_path.glob("*/report.html"))) == 1


def _progress_output(*, is_terminal: bool, is_interrupted: bool) -> str:
    """Return everything that is written about a run whose queues drain during three reports."""
    written = io.StringIO()
    with RunProgress("incast sfc", Console(file=written, force_terminal=is_terminal, width=120)) as progress:
        progress.hosts_up(8, 8)
        progress.flows_done(3, 5)
        for left_bytes in (3_000_000, 1_000_000, 0):
            progress.hottest_buffer("tor1", left_bytes)
            progress.draining(is_interrupted)
    return written.getvalue()


def test_the_progress_of_an_ending_run_is_shown_on_terminals_only() -> None:
    output = _progress_output(is_terminal=True, is_interrupted=False)
    assert "3/5 flows done, ending tor1 holds 0.00 MB" in output
    assert "Ctrl-C" not in output
    assert _progress_output(is_terminal=True, is_interrupted=True).count("press Ctrl-C again to end without them") == 1
    assert _progress_output(is_terminal=False, is_interrupted=True) == ""
