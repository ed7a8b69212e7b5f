# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`python -m tests.fuzz.worker TARGET WORK ...`: one process that tries one target, so that a crash ends only it.

WORK gets `current.json`, the case being tried, and `tried.json`, what came of those before. Exits with 0 when nothing
was found, 1 when something was; anything else is a crash, or a case that took longer than `HANG_S`.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import resource
import sys
import time
import traceback
from pathlib import Path

from tests.fuzz.cases import keep, read_case
from tests.fuzz.catalogue import TARGETS
from tests.fuzz.target import Case, Target
from tests.fuzz.trying import TimeIsOver, Tried, fails_with, try_cases

HANG_S = 120
"""No case takes this long, even where a machine does other things too."""
CURRENT = "current.json"
TRIED = "tried.json"
_ROUND = 1_000
_MOST_MEMORY_BYTES = 6_000_000_000


def main() -> int:
    """Tries, or tries one case again."""
    arguments = _parser().parse_args()
    target = TARGETS[arguments.target]
    faulthandler.enable()
    if not target.is_sanitized:  # whose shadow memory is larger than any limit
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY_BYTES, resource.RLIM_INFINITY))
    if arguments.replay is not None:
        faulthandler.dump_traceback_later(HANG_S, exit=True)
        kind = fails_with(target, read_case(arguments.replay))
        faulthandler.cancel_dump_traceback_later()
        print(kind or "")
        return int(kind is not None)
    return _try(target, arguments)


def _try(target: Target, arguments: argparse.Namespace) -> int:
    tried, work, number = Tried(), arguments.work, arguments.seed
    end_s = time.monotonic() + arguments.seconds

    def before(case: Case) -> None:
        if number is not None and time.monotonic() >= end_s and tried.inputs >= arguments.at_least:
            raise TimeIsOver
        (work / CURRENT).write_text(json.dumps({"case": case}), encoding="utf-8")
        faulthandler.dump_traceback_later(HANG_S, exit=True)

    try:
        while True:
            try_cases(target, arguments.examples or _ROUND, number, tried, before)
            if number is None:
                break
            number += 1
    except TimeIsOver:
        pass
    faulthandler.cancel_dump_traceback_later()
    _tell(work, tried)
    return int(bool(tried.found))


def _tell(work: Path, tried: Tried) -> None:
    found = []
    for kind, (case, error) in tried.found.items():
        path = keep(work / "found", kind, case)
        path.with_suffix(".txt").write_text("".join(traceback.format_exception(error)), errors="backslashreplace")
        found.append(kind)
    (work / TRIED).write_text(json.dumps({"inputs": tried.inputs, "found": found}), encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.worker")
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("work", type=Path)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--at-least", type=int, default=0, help="inputs, however long that takes")
    parser.add_argument("--seed", type=int, help="without one the same cases every time, one round of them")
    parser.add_argument("--examples", type=int, help="cases of a round")
    parser.add_argument("--replay", type=Path, help="a file with one case to try instead")
    return parser


if __name__ == "__main__":
    sys.exit(main())
