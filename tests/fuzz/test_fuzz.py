# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Every fuzz target for a small budget, always the same cases, and every case that was ever found once more.

`make fuzz MINUTES=n` goes further.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz import sanitizers
from tests.fuzz.cases import FOUND, keep, kept, read_case, smallest
from tests.fuzz.catalogue import TARGETS
from tests.fuzz.target import Case, Finding, Target
from tests.fuzz.trying import Tried, try_cases
from tests.fuzz.workers import ROOT, NoWorker, replay, work

CASES = [(name, path) for name, target in TARGETS.items() for path in kept(target)]


@pytest.fixture(autouse=True, scope="module")
def sanitizers_are_there() -> None:
    """As in every test that builds for them."""
    try:
        sanitizers.environment()
    except sanitizers.NoSanitizers as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(
    "target", [each for each in TARGETS.values() if not each.is_sanitized], ids=lambda each: each.name
)
@pytest.mark.long
def test_nothing_is_found_in_the_suites_budget(target: Target) -> None:
    """So many cases as the target's row says."""
    tried = Tried()
    try_cases(target, target.examples, None, tried)
    assert not tried.found
    assert tried.inputs >= target.examples


@pytest.mark.parametrize("target", [each for each in TARGETS.values() if each.is_sanitized], ids=lambda each: each.name)
@pytest.mark.long
def test_nothing_is_found_in_the_sanitizers(target: Target, tmp_path: Path) -> None:
    """The same in a process that holds them, which a bad access ends."""
    worked = work(target, tmp_path / "work", ["--examples", str(target.examples)])
    assert not {kind: path.with_suffix(".txt").read_text() for kind, path in worked.found.items()}
    assert worked.inputs >= target.examples


@pytest.mark.parametrize(("name", "path"), CASES, ids=[f"{name}-{path.stem}" for name, path in CASES])
def test_what_was_found_stays_mended(name: str, path: Path) -> None:
    """One file, one case, for ever."""
    target = TARGETS[name]
    if target.is_sanitized:
        done = replay(target, read_case(path))
        assert done.returncode == 0, done.stdout + done.stderr
    else:
        target.check(read_case(path))


def test_every_folder_of_cases_belongs_to_a_target() -> None:
    """Else nobody would try what is in it."""
    assert {path.name for path in FOUND.iterdir()} <= set(TARGETS)


def test_the_budgets_are_documented() -> None:
    """Each target has its row in CONTRIBUTING.md, and no other has one."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = text.partition("| target | what comes in |")[2].partition("\n\n")[0].splitlines()[2:]
    assert rows == [
        f"| {each.name} | {each.what} | {each.examples}{' batches' if each.batch else ''} | {each.floor or '-'} |"
        for each in TARGETS.values()
    ]


def test_a_finding_is_made_small_and_kept(tmp_path: Path) -> None:
    """A target with a defect: one of its steps is too many, and the file that is left names that step alone."""
    target = Target(
        "sample", "step", _refuse_seven, 40, batch=lambda number: {"steps": [number % 11, number % 13, 7, 8]}
    )
    tried = Tried()
    try_cases(target, target.examples, None, tried)
    [(kind, (case, error))] = tried.found.items()
    assert (kind, case, str(error)) == ("a seven", {"steps": [7]}, "a seven: among the steps")
    assert read_case(keep(tmp_path, kind, case)) == case


def test_cutting_down_leaves_what_fails_together() -> None:
    """Two steps that only fail with each other."""

    def fails(case: Case) -> bool:
        return {3, 90} <= set(case["steps"])

    assert smallest({"steps": list(range(100))}, fails) == {"steps": [3, 90]}


def test_a_process_that_dies_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was being tried then is the case."""

    def dies(words: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        (tmp_path / "work" / "current.json").write_text(json.dumps({"case": {"line": "x"}}))
        return subprocess.CompletedProcess(words, -11, "", "==1==ERROR: AddressSanitizer: heap-buffer-overflow\n")

    monkeypatch.setattr("tests.fuzz.workers.subprocess.run", dies)
    worked = work(TARGETS["agent-lines"], tmp_path / "work", [])
    [(kind, path)] = worked.found.items()
    assert kind == "AddressSanitizer: heap-buffer-overflow"
    assert read_case(path) == {"line": "x"}


def test_a_process_that_does_not_start_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says nothing about what it was to try."""
    done = subprocess.CompletedProcess[str]([], 1, "", "No module named x\n")
    monkeypatch.setattr("tests.fuzz.workers.subprocess.run", lambda words, **options: done)
    with pytest.raises(NoWorker, match="No module named x"):
        work(TARGETS["agent-lines"], tmp_path / "work", [])


def _refuse_seven(case: Case) -> int:
    if 7 in case["steps"]:
        raise Finding("a seven", "among the steps")
    return len(case["steps"])
