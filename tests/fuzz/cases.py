# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Cases as files: what was found is kept, small enough to read, and tried again by the suite for ever."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.fuzz.target import STEPS, Case, Target

FOUND = Path(__file__).resolve().parent / "found"


def kept(target: Target) -> Iterator[Path]:
    """The files of a target's cases."""
    yield from sorted((FOUND / target.name).glob("*.json"))


def read_case(path: Path) -> Case:
    """The case of a file."""
    case: Case = json.loads(path.read_text(encoding="utf-8"))["case"]
    return case


def keep(folder: Path, kind: str, case: Case) -> Path:
    """Writes a case, named by what it is; bytes that are no text stand as escapes."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"finding": kind, "case": case}, indent=1) + "\n"
    path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"
    path.write_text(text, encoding="utf-8")
    return path


def smallest(case: Case, fails: Callable[[Case], bool]) -> Case:
    """A case that still fails, none of whose steps, or halves of them, can be left out."""
    steps = list(case[STEPS])
    size = len(steps) // 2
    while size:
        at = 0
        while at < len(steps):
            shorter = steps[:at] + steps[at + size :]
            if fails({**case, STEPS: shorter}):
                steps = shorter
            else:
                at += size
        size //= 2
    return {**case, STEPS: steps}
