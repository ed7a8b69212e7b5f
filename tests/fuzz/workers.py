# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Starts worker processes, and turns the crash of a worker into a finding."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.cases import keep, read_case, smallest
from tests.fuzz.sanitizers import environment
from tests.fuzz.target import Case, Target
from tests.fuzz.worker import CURRENT, TRIED

ROOT = Path(__file__).resolve().parents[2]
_MOST_REPLAYS = 60
_SHOWN_CHARACTERS = 4_000


class NoWorker(Exception):
    """A worker process ended before it tried its first case."""


@dataclass(frozen=True)
class Worked:
    """The number of inputs that a worker tried, and its findings."""

    inputs: int
    found: Mapping[str, Path] = field(default_factory=dict)
    """The file of the case for each kind of finding. A .txt file of the same name has the error messages."""


def work(target: Target, folder: Path, words: Sequence[str]) -> Worked:
    """Run a worker for a target in a new folder until it ends, and return its results."""
    folder.mkdir(parents=True)
    done = _start(target, folder, words)
    results = json.loads((folder / TRIED).read_text()) if (folder / TRIED).exists() else {"inputs": 0}
    found = {_kind(path): path for path in sorted((folder / "found").glob("*.json"))}
    if done.returncode not in (0, 1) or (done.returncode == 1 and not found):
        kind, path = _finding_of_crash(target, folder, done)
        found[kind] = path
    return Worked(results["inputs"], found)


def _start(target: Target, folder: Path, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.fuzz.worker", target.name, str(folder), *words]
    inherited = environment() if target.is_sanitized else os.environ
    # Temporary files of a worker that crashes are removed with its folder.
    variables = {**inherited, "TMPDIR": str(folder), "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis")}
    return subprocess.run(
        command, cwd=ROOT, env=variables, capture_output=True, text=True, errors="backslashreplace", check=False
    )


def _kind(path: Path) -> str:
    return str(json.loads(path.read_text())["finding"])


def _finding_of_crash(target: Target, folder: Path, done: subprocess.CompletedProcess[str]) -> tuple[str, Path]:
    """Return the kind and the case of a crash; the case is minimised with at most _MOST_REPLAYS replays."""
    output = done.stdout + done.stderr
    kind = next((line for line in output.splitlines() if "ERROR:" in line or "runtime error:" in line), "")
    kind = kind.partition("ERROR: ")[2] or kind or f"the process ended with {done.returncode}, or a case took too long"
    if not (folder / CURRENT).exists():
        raise NoWorker(output[-_SHOWN_CHARACTERS:])
    case = read_case(folder / CURRENT)
    replays = 0

    def crashes(shorter: Case) -> bool:
        nonlocal replays
        replays += 1
        return replays <= _MOST_REPLAYS and replay(target, shorter).returncode not in (0, 1)

    if target.batch is not None:
        case = smallest(case, crashes)
    path = keep(folder / "found", kind, case)
    path.with_suffix(".txt").write_text(output[-_SHOWN_CHARACTERS:])
    return kind, path


def replay(target: Target, case: Case) -> subprocess.CompletedProcess[str]:
    """Run one case in a new process, whose exit code is 0 if the case passes."""
    with tempfile.TemporaryDirectory() as name:
        path = keep(Path(name), "", case)
        return _start(target, Path(name), ["--replay", str(path)])
