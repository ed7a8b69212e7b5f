# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Every fuzz target with a small number of fixed cases, and every saved finding.

`make fuzz MINUTES=n` tries more cases.
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
def _require_sanitizers() -> None:
    try:
        sanitizers.environment()
    except sanitizers.NoSanitizers as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(
    "target", [target for target in TARGETS.values() if not target.is_sanitized], ids=lambda target: target.name
)
@pytest.mark.long
def test_target_has_no_findings(target: Target) -> None:
    tried = Tried()
    try_cases(target, target.examples, None, tried)
    assert not tried.found
    assert tried.inputs >= target.examples


@pytest.mark.parametrize(
    "target", [target for target in TARGETS.values() if target.is_sanitized], ids=lambda target: target.name
)
@pytest.mark.long
def test_target_with_sanitizers_has_no_findings(target: Target, tmp_path: Path) -> None:
    """The cases run in another process, which ends at an invalid memory access."""
    worked = work(target, tmp_path / "work", ["--examples", str(target.examples)])
    assert not {kind: path.with_suffix(".txt").read_text() for kind, path in worked.found.items()}
    assert worked.inputs >= target.examples


@pytest.mark.parametrize(("name", "path"), CASES, ids=[f"{name}-{path.stem}" for name, path in CASES])
def test_saved_finding_does_not_return(name: str, path: Path) -> None:
    target = TARGETS[name]
    if target.is_sanitized:
        done = replay(target, read_case(path))
        assert done.returncode == 0, done.stdout + done.stderr
    else:
        target.check(read_case(path))


def test_every_folder_of_cases_belongs_to_a_target() -> None:
    """Cases in other folders would not run."""
    assert {path.name for path in FOUND.iterdir()} <= set(TARGETS)


def test_contributing_lists_the_targets() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = text.partition("| target | what comes in |")[2].partition("\n\n")[0].splitlines()[2:]
    assert rows == [
        f"| {target.name} | {target.input_name} | {target.examples}{' batches' if target.batch else ''} "
        f"| {target.floor or '-'} |"
        for target in TARGETS.values()
    ]


def test_finding_is_minimised_and_saved(tmp_path: Path) -> None:
    """The saved case of a defective target contains only the step that fails."""
    target = Target(
        "sample", "step", _refuse_seven, 40, batch=lambda number: {"steps": [number % 11, number % 13, 7, 8]}
    )
    tried = Tried()
    try_cases(target, target.examples, None, tried)
    [(kind, (case, error))] = tried.found.items()
    assert (kind, case, str(error)) == ("a seven", {"steps": [7]}, "a seven: among the steps")
    assert read_case(keep(tmp_path, kind, case)) == case


def test_minimised_case_keeps_two_steps_that_fail_only_together() -> None:

    def fails(case: Case) -> bool:
        return {3, 90} <= set(case["steps"])

    assert smallest({"steps": list(range(100))}, fails) == {"steps": [3, 90]}


def test_crash_of_a_worker_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The finding's case is the one that the worker was trying."""

    def crash(words: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        (tmp_path / "work" / "current.json").write_text(json.dumps({"case": {"line": "x"}}))
        return subprocess.CompletedProcess(words, -11, "", "==1==ERROR: AddressSanitizer: heap-buffer-overflow\n")

    monkeypatch.setattr("tests.fuzz.workers.subprocess.run", crash)
    worked = work(TARGETS["agent-lines"], tmp_path / "work", [])
    [(kind, path)] = worked.found.items()
    assert kind == "AddressSanitizer: heap-buffer-overflow"
    assert read_case(path) == {"line": "x"}


def test_worker_that_does_not_start_is_an_error_without_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = subprocess.CompletedProcess[str]([], 1, "", "No module named x\n")
    monkeypatch.setattr("tests.fuzz.workers.subprocess.run", lambda words, **options: done)
    with pytest.raises(NoWorker, match="No module named x"):
        work(TARGETS["agent-lines"], tmp_path / "work", [])


def _refuse_seven(case: Case) -> int:
    if 7 in case["steps"]:
        raise Finding("a seven", "among the steps")
    return len(case["steps"])
