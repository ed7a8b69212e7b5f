# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`python -m tests.fuzz MINUTES [TARGET...]`: tries every target for its share of the time, on all cores.

Every target gets its share, in as many processes as there are cores, some targets side by side; those with a floor go
on until they have it. What is found lies in tests/fuzz/found/TARGET/, a file each, which the suite tries from then on.

Exit codes: 0 nothing was found, 1 something was, 2 bad input, or nothing could be tried.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.fuzz.cases import FOUND
from tests.fuzz.catalogue import TARGETS
from tests.fuzz.target import Target
from tests.fuzz.targets import control_lines, switch_frames
from tests.fuzz.workers import NoWorker, Worked, work

_FLOOR_MINUTES = 10
_FILE_COLUMNS = 120


def main() -> int:
    """The command; its exit code."""
    arguments = _parser().parse_args()
    unknown = [name for name in arguments.targets if name not in TARGETS]
    if unknown or not 0 < arguments.minutes < 100_000:
        wrong = f"no target {unknown[0]!r}; there are {', '.join(TARGETS)}" if unknown else "MINUTES: a number above 0"
        print(f"fuzz: {wrong}", file=sys.stderr)
        return 2
    targets = [TARGETS[name] for name in arguments.targets or TARGETS]
    console = Console()
    if not console.is_terminal:
        console.width = _FILE_COLUMNS
    began_s = time.monotonic()
    seed = arguments.seed if arguments.seed is not None else int.from_bytes(os.urandom(4), "big")
    cores = len(os.sched_getaffinity(0))
    console.print(f"{arguments.minutes:g} minutes of {len(targets)} targets on {cores} cores, seed {seed}")
    control_lines.build()  # here, so that processes side by side find it built
    switch_frames.build()
    with tempfile.TemporaryDirectory(prefix="sfc-fuzz-") as name:
        try:
            worked = _work_side_by_side(targets, Path(name), arguments.minutes, seed, cores)
        except NoWorker as error:
            print(f"fuzz: a process did not start\n{error}", file=sys.stderr)
            return 2
        found = {target: _keep_found(target, worked[target]) for target in targets}
    console.print(_table(targets, worked, found, time.monotonic() - began_s))
    for target in targets:
        for kind, path in found[target].items():
            console.print(f"{target.name}: {kind}\n  {path}", markup=False, highlight=False, soft_wrap=True)
    return int(any(found.values()))


def _work_side_by_side(
    targets: Sequence[Target], folder: Path, minutes: float, seed: int, cores: int
) -> Mapping[Target, list[tuple[Worked, float]]]:
    """For each target and core a process, as many at a time as there are cores; what each found, and its time."""
    shares = sum(target.share for target in targets)

    def one(target: Target, core: int) -> tuple[Worked, float]:
        least = int(target.floor * min(1.0, minutes / _FLOOR_MINUTES) / cores)
        seconds = minutes * 60 * target.share / shares
        words = ["--seconds", f"{seconds:g}", "--seed", str(seed + core * 10**6), "--at-least", str(least)]
        began_s = time.monotonic()
        return work(target, folder / f"{target.name}-{core}", words), time.monotonic() - began_s

    with ThreadPoolExecutor(max_workers=cores) as pool:
        begun = {target: [pool.submit(one, target, core) for core in range(cores)] for target in targets}
        return {target: [each.result() for each in futures] for target, futures in begun.items()}


def _keep_found(target: Target, worked: Sequence[tuple[Worked, float]]) -> dict[str, Path]:
    """Copies the cases, one a kind, to where the suite finds them; what they said comes to the screen's file."""
    found = {kind: path for each, _ in worked for kind, path in each.found.items()}
    kept = {}
    for kind, path in found.items():
        (FOUND / target.name).mkdir(parents=True, exist_ok=True)
        kept[kind] = Path(shutil.copy(path, FOUND / target.name))
        print(path.with_suffix(".txt").read_text(errors="backslashreplace"), file=sys.stderr)
    return kept


def _table(
    targets: Sequence[Target],
    worked: Mapping[Target, Sequence[tuple[Worked, float]]],
    found: Mapping[Target, Mapping[str, Path]],
    wall_s: float,
) -> Table:
    table = Table(
        title=f"inputs tried in {wall_s / 60:.1f} minutes", title_justify="left", box=None, padding=(0, 3, 0, 0)
    )
    for name in ("target", "an input is a", "tried", "a second of a core", "findings"):
        table.add_column(name, justify="left" if name in ("target", "an input is a") else "right")
    for target in targets:
        inputs = sum(each.inputs for each, _ in worked[target])
        busy_s = sum(seconds for _, seconds in worked[target])
        table.add_row(target.name, target.what, f"{inputs:,}", f"{inputs / busy_s:,.0f}", str(len(found[target])))
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Tries inputs that nobody would send.")
    parser.add_argument("minutes", type=float)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="some of them; all without one")
    parser.add_argument("--seed", type=int, help="of all cases, to try the same again")
    return parser


if __name__ == "__main__":
    sys.exit(main())
