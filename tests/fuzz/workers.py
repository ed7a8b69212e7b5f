# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Starts worker processes, and makes of what is left of one that crashed a case like any other."""

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
    """A process ended before it tried anything: that says nothing about the target."""


@dataclass(frozen=True)
class Worked:
    """What a worker tried and found."""

    inputs: int
    found: Mapping[str, Path] = field(default_factory=dict)
    """Kind of finding -> the case, beside which lies what it said."""


def work(target: Target, folder: Path, words: Sequence[str]) -> Worked:
    """Lets a process try a target in a folder of its own, to its end."""
    folder.mkdir(parents=True)
    done = _start(target, folder, words)
    told = json.loads((folder / TRIED).read_text()) if (folder / TRIED).exists() else {"inputs": 0}
    found = {_kind(path): path for path in sorted((folder / "found").glob("*.json"))}
    if done.returncode not in (0, 1) or (done.returncode == 1 and not found):
        kind, path = _crashed(target, folder, done)
        found[kind] = path
    return Worked(told["inputs"], found)


def _start(target: Target, folder: Path, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.fuzz.worker", target.name, str(folder), *words]
    outside = environment() if target.is_sanitized else os.environ
    # What a worker that dies could not remove goes with its folder.
    inside = {**outside, "TMPDIR": str(folder), "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis")}
    return subprocess.run(
        command, cwd=ROOT, env=inside, capture_output=True, text=True, errors="backslashreplace", check=False
    )


def _kind(path: Path) -> str:
    return str(json.loads(path.read_text())["finding"])


def _crashed(target: Target, folder: Path, done: subprocess.CompletedProcess[str]) -> tuple[str, Path]:
    """The case that was being tried, cut down as far as a number of processes allows."""
    said = done.stdout + done.stderr
    kind = next((line for line in said.splitlines() if "ERROR:" in line or "runtime error:" in line), "")
    kind = kind.partition("ERROR: ")[2] or kind or f"the process ended with {done.returncode}, or a case took too long"
    if not (folder / CURRENT).exists():
        raise NoWorker(said[-_SHOWN_CHARACTERS:])
    case = read_case(folder / CURRENT)
    replays = 0

    def crashes(shorter: Case) -> bool:
        nonlocal replays
        replays += 1
        return replays <= _MOST_REPLAYS and replay(target, shorter).returncode not in (0, 1)

    if target.batch is not None:
        case = smallest(case, crashes)
    path = keep(folder / "found", kind, case)
    path.with_suffix(".txt").write_text(said[-_SHOWN_CHARACTERS:])
    return kind, path


def replay(target: Target, case: Case) -> subprocess.CompletedProcess[str]:
    """Tries one case in a process of its own; 0 when all holds."""
    with tempfile.TemporaryDirectory() as name:
        path = keep(Path(name), "", case)
        return _start(target, Path(name), ["--replay", str(path)])
