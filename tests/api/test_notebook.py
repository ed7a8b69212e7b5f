# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for progress in a notebook, with a stand-in for IPython."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import sfc_testbed as sfc
from sfc_testbed.api.notebook import is_notebook
from tests.api.reading import SMALL


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
