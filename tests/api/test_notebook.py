# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for notebooks, with a stand-in for IPython and in a real kernel: progress, results and a live network."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import sfc_testbed as sfc
from sfc_testbed.api.notebook import is_notebook
from tests.api.reading import SMALL
from tests.kernel import needs_kernel, outputs
from tests.testbed import running

IMPORT = "import sfc_testbed as sfc\nsettings = {'degree': 2, 'message_bytes': 2000}"


class Kernel:
    """The parts of IPython that the testbed uses; `shown` are the contents of the displayed line."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.kernel = self

    def get_ipython(self) -> Kernel:
        return self

    def display(self, content: str, *, display_id: bool) -> Kernel:
        assert display_id
        self.shown.append(content)
        return self

    def update(self, content: str) -> None:
        self.shown.append(content)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    kernel = Kernel()
    package: Any = ModuleType("IPython")
    display: Any = ModuleType("IPython.display")
    package.get_ipython, package.display = kernel.get_ipython, display
    display.HTML, display.display = str, kernel.display
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return kernel


def test_a_run_shows_a_line_that_disappears(kernel: Kernel, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert is_notebook()
    run = sfc.run("incast", settings=SMALL, out=tmp_path)
    assert run.verdict == "faithful"
    assert any("incast sfc: starting" in content for content in kernel.shown)
    assert kernel.shown[-1] == ""
    assert capsys.readouterr() == ("", "")


def test_jobs_show_their_share(kernel: Kernel, tmp_path: Path) -> None:
    sfc.compare("incast", "irn,sfc", settings=SMALL, jobs=2, out=tmp_path)
    assert kernel.shown[-1] == ""
    assert any("starting" in content for content in kernel.shown)


def test_quiet_shows_nothing(kernel: Kernel, tmp_path: Path) -> None:
    sfc.run("incast", settings=SMALL, out=tmp_path, quiet=True)
    assert kernel.shown == []


def test_a_process_without_a_kernel_is_no_notebook() -> None:
    assert not is_notebook()


@needs_kernel
def test_cells_show_results_and_progress_disappears(tmp_path: Path) -> None:
    runs = "run = sfc.run('incast', settings=settings)\nrun"
    compared = "sfc.compare('incast', 'irn,sfc', settings=settings, jobs=2).table()"
    quiet = "_ = sfc.run('incast', settings=settings, quiet=True)"
    refused = "try:\n    sfc.run('incst')\nexcept sfc.UsageError as error:\n    print(error)"
    _, run, table, none, refusal = outputs([IMPORT, runs, compared, quiet, refused], tmp_path)
    for shown in (run, table):
        *lines, result = shown
        assert lines and all(line["output_type"] == "display_data" for line in lines)
        assert all("".join(line["data"]["text/html"]) == "" for line in lines)
        assert result["output_type"] == "execute_result"
        assert "faithful" in "".join(result["data"]["text/html"])
    assert none == []
    assert _text(refusal).startswith("unknown scenario 'incst'")


@needs_kernel
@running.needs_mininet
def test_live_network_opens_in_a_cell(tmp_path: Path) -> None:
    opened = (
        "with sfc.open_network('star') as net:\n    print(net)\n    print(net.wait([net.send('h1', 'h2', '20KB')]))"
    )
    _, shown = outputs([IMPORT, opened], tmp_path)
    assert _text(shown).startswith("<Network star under sfc")
    assert _text(shown).endswith("True\n")


def _text(outputs: list[Any]) -> str:
    return "".join(line for output in outputs for line in output.get("text", ()))
