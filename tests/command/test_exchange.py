# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`run --exchange mpi` where it cannot be: one line, whoever many processes are given the same words."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from command.app import main

_WORDS = ["run", "incast", "--clock", "virtual", "--exchange", "mpi"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the command is typed."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_extra_is_asked_for_in_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without mpi4py nothing is started, and of all processes on a machine the first one says so."""
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    assert main(_WORDS) == 2
    said = capsys.readouterr()
    assert said.out == ""
    [line] = said.err.splitlines()
    assert ".venv/bin/pip install '.[mpi]'" in line
    monkeypatch.setenv("OMPI_COMM_WORLD_LOCAL_RANK", "1")
    assert main(_WORDS) == 0
    assert capsys.readouterr() == ("", "")
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--workers", "2"], "mpirun -n sets the number"),
        (["--exchange", "udp"], "no exchange 'udp'; there are memory, mpi"),
    ],
)
def test_what_does_not_go_with_it_is_refused(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anybody asks for MPI."""
    assert main([*_WORDS, *words]) == 2
    assert expected in capsys.readouterr().err
