# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Files of cases: every finding is saved as a minimised case, which the suite runs as a regression test."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.fuzz.target import STEPS, Case, Target

FOUND = Path(__file__).resolve().parent / "found"


def kept(target: Target) -> Iterator[Path]:
    """Yield the files of a target's saved cases."""
    yield from sorted((FOUND / target.name).glob("*.json"))


def read_case(path: Path) -> Case:
    """Return the case in a file."""
    case: Case = json.loads(path.read_text(encoding="utf-8"))["case"]
    return case


def keep(folder: Path, kind: str, case: Case) -> Path:
    """Write a case to a file named after the hash of its content, and return the path."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"finding": kind, "case": case}, indent=1) + "\n"
    path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"
    path.write_text(text, encoding="utf-8")
    return path


def smallest(case: Case, fails: Callable[[Case], bool]) -> Case:
    """Return a case that still fails, with as few steps as removing blocks of halved sizes down to one can reach."""
    steps = list(case[STEPS])
    size = len(steps) // 2
    while size:
        begin = 0
        while begin < len(steps):
            shorter = steps[:begin] + steps[begin + size :]
            if fails({**case, STEPS: shorter}):
                steps = shorter
            else:
                begin += size
        size //= 2
    return {**case, STEPS: steps}
