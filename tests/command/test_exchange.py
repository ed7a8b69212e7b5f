# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for `run --exchange mpi` without MPI: one line, although several processes run the same command."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from command.app import main

_WORDS = ["run", "incast", "--clock", "virtual", "--exchange", "mpi"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_mpi4py_one_line_names_the_package_extra(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line is printed by the first of the processes on a machine."""
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    assert main(_WORDS) == 2
    output = capsys.readouterr()
    assert output.out == ""
    [line] = output.err.splitlines()
    assert ".venv/bin/pip install '.[mpi]'" in line
    monkeypatch.setenv("OMPI_COMM_WORLD_LOCAL_RANK", "1")
    assert main(_WORDS) == 0
    assert capsys.readouterr() == ("", "")
    assert not list(folder.iterdir())
