# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The lesson runs, and its page has the figures that it prints."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

from tests.testbed import running

SCRIPT = running.ROOT / "examples" / "lecture" / "lesson.py"
PAGE = running.ROOT / "docs" / "lecture.md"


def _lesson(monkeypatch: pytest.MonkeyPatch, folder: Path, *parts: str) -> int:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", [SCRIPT.name, *parts])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    return int(ended.value.code or 0)


def test_figures_of_the_page_are_those_of_the_lesson(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _lesson(monkeypatch, tmp_path) == 0
    printed = capsys.readouterr().out
    rows = re.findall(
        r"^\| `(.+?)` \| ([\d,]+) \| (.*) KB, (.*) KB \| ([\d.]+) \| ([\d.]+) \|$", PAGE.read_text(), re.MULTILINE
    )
    assert len(rows) == 6
    for scheme, drops, tor, spine, of_others, last in rows:
        depths = f"ToR {tor} KB, of a spine {spine} KB, .* host {of_others} times"
        assert re.search(f"^{re.escape(scheme)}: .* {depths}", printed, re.MULTILINE), scheme
        assert re.search(rf"^ *{re.escape(scheme)} .* {last}  .*[ \n]{drops}/", printed, re.MULTILINE), scheme


def test_unknown_part_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _lesson(monkeypatch, tmp_path, "homework") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r".*no part 'homework'; parts are nothing, pfc, .*\n", err)
    assert not list(tmp_path.iterdir())
