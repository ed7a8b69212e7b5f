# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Worker process that tries one target, so that a crash ends only this process.

Started as `python -m tests.fuzz.worker TARGET WORK ...`. It writes the current case to WORK/current.json, and at the
end the results to WORK/tried.json. The exit code is 0 without findings and 1 with findings. Any other exit code is a
crash, or a case that took longer than `HANG_S`.
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
"""Longest time for a case, in seconds; far more than needed, even on a busy machine."""
CURRENT = "current.json"
TRIED = "tried.json"
_ROUND = 1_000
_MOST_MEMORY_BYTES = 6_000_000_000


def main() -> int:
    """Try many cases, or replay a single one, and return the exit code."""
    arguments = _parser().parse_args()
    target = TARGETS[arguments.target]
    faulthandler.enable()
    if not target.is_sanitized:  # the shadow memory of the sanitizers exceeds every limit
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
    _write_results(work, tried)
    return int(bool(tried.found))


def _write_results(work: Path, tried: Tried) -> None:
    kinds = []
    for kind, (case, error) in tried.found.items():
        path = keep(work / "found", kind, case)
        path.with_suffix(".txt").write_text("".join(traceback.format_exception(error)), errors="backslashreplace")
        kinds.append(kind)
    (work / TRIED).write_text(json.dumps({"inputs": tried.inputs, "found": kinds}), encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.worker")
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("work", type=Path)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--at-least", type=int, default=0, help="minimum number of inputs, even after --seconds")
    parser.add_argument("--seed", type=int, help="random seed (default: one round of fixed cases)")
    parser.add_argument("--examples", type=int, help="cases per round")
    parser.add_argument("--replay", type=Path, help="run only the case in this file")
    return parser


if __name__ == "__main__":
    sys.exit(main())
