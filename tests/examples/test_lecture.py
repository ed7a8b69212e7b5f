# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The lesson runs, and its page has the figures that it prints."""

from __future__ import annotations

import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest

from sfc_testbed.analysis.formatting import format_bytes
from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.cli.app import main
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


def test_figures_of_the_homework_are_those_of_its_runs(tmp_path: Path) -> None:
    page = PAGE.read_text()
    [command] = re.findall(r"\./runner\.py (run bystanders .*?)\n```", page, re.DOTALL)
    base = shlex.split(command.replace("\\\n", " "))
    rows = re.findall(r"^\| (.*) \| ([\d.]+ .B) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) us \|$", page, re.MULTILINE)
    assert len(rows) == 5
    for number, (change, peak, drops, bts, end_us) in enumerate(rows):
        changed = {word.partition("=")[0]: word for word in re.findall(r"`([a-z_.]+=\d+)`", change)}
        words = [changed.get(word.partition("=")[0], word) for word in base]
        more = shlex.split(" ".join(re.findall(r"`(--.*?)`", change)))
        if "--scheme" in more:
            words[words.index("--scheme") + 1] = more.pop()
            more.remove("--scheme")
        out = tmp_path / str(number)
        assert main([*words, *more, "--out", str(out)]) == 0
        result = load_run(next(out.iterdir())).result
        assert result is not None and result.bts is not None and result.drops is not None
        assert format_bytes(result.max_buffer_bytes) == peak
        assert (sum(result.drops.values()), result.bts.sent) == (int(drops.replace(",", "")), int(bts.replace(",", "")))
        took_us = result.completion["incast"].took_us
        assert took_us is not None and float(end_us.replace(",", "")) == pytest.approx(took_us, abs=6)
