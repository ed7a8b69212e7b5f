# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the check of P4 sources: a run is refused if they were edited but not compiled."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest

from sfc_testbed.place import ROOT
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.plan import plan
from sfc_testbed.testbed.program.sources import HASH_FILE, SOURCES, check_artifacts
from sfc_testbed.testbed.program.user_program import compiled_program
from tests.conftest import Refused
from tests.testbed.program.own import OURS
from tests.testbed.running import write_program

_MESSAGE = "the P4 sources in switch-bmv2/ are not those that switch-bmv2/artifacts/sfc.json was compiled from"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a copy of the P4 sources with an edited include file."""
    shutil.copytree(ROOT / SOURCES, tmp_path / SOURCES)
    check_artifacts(tmp_path)
    include = tmp_path / SOURCES / "include" / "control" / "bts" / "bts_cause.p4"
    include.write_text(include.read_text().replace("> meta.q_th_bytes", ">= meta.q_th_bytes"))
    return tmp_path


@pytest.mark.parametrize(
    ("programs", "advice"),
    [
        (("p4c-bm2-ss",), ": `make p4` compiles them"),
        (("docker",), ": `make p4` compiles them"),
        ((), " where there is p4c-bm2-ss or Docker (docs/bmv2.md says how to get it); without, undo the change"),
    ],
)
def test_the_advice_depends_on_the_available_compilers(
    programs: tuple[str, ...], advice: str, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    for name in programs:
        write_program(tmp_path / "bin" / name, "")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(UsageError) as refused:
        check_artifacts(tree)
    assert str(refused.value).startswith(_MESSAGE)
    assert str(refused.value).endswith(advice)


def test_a_new_source_and_a_missing_hash_are_refused(tree: Path) -> None:
    shutil.rmtree(tree / SOURCES)
    shutil.copytree(ROOT / SOURCES, tree / SOURCES)
    (tree / SOURCES / "include" / "mine.p4").write_text("")
    with pytest.raises(UsageError):
        check_artifacts(tree)
    (tree / SOURCES / "include" / "mine.p4").unlink()
    check_artifacts(tree)
    (tree / HASH_FILE).unlink()
    with pytest.raises(UsageError):
        check_artifacts(tree)


@pytest.mark.parametrize(
    "words",
    [
        ["run", "incast", "--clock", "virtual"],
        ["run", "incast"],
        ["compare", "incast", "--clock", "virtual"],
        ["compare", "incast", "--clock", "virtual", "--p4", "built-in"],
        ["validate", "incast"],
        ["reproduce", "signaling"],
        ["cli"],
    ],
    ids=" ".join,
)
def test_every_verb_refuses_before_anything_starts(
    words: list[str], tree: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    monkeypatch.setattr(plan, "check_artifacts", partial(check_artifacts, tree))
    refused(words, f"runner.py: {_MESSAGE}")


def test_a_user_program_needs_no_artifacts(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edit can therefore be tried with `--p4 switch-bmv2/sfc.p4` before the artifacts are compiled."""
    monkeypatch.setattr(plan, "check_artifacts", partial(check_artifacts, tree))
    user_program = compiled_program("mine.json", "/mine.json", "mine", OURS)
    assert plan.plan_run(RunSpec("incast", clock="virtual", program=user_program)).config.program_name == "mine"
    with pytest.raises(UsageError):
        plan.plan_run(
            RunSpec("incast", switch="bmv2", program=user_program)
        )  # its delay lines may run the compiled wire.p4
