# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs the fuzz targets on all cores: `python -m tests.fuzz MINUTES [TARGET...]`.

Every target gets its share of the time, in one process per core. Several targets run at the same time. A target with a
minimum number of inputs continues until it has tried them. Each finding is written to a file in
tests/fuzz/found/TARGET/, which the test suite runs from then on as a regression test.

Exit codes: 0 no findings, 1 findings, 2 bad input or a worker that did not start.
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
    """Run the command and return its exit code."""
    arguments = _parser().parse_args()
    unknown = [name for name in arguments.targets if name not in TARGETS]
    if unknown or not 0 < arguments.minutes < 100_000:
        choice = f"unknown target {unknown[0]!r}; choose from {', '.join(TARGETS)}" if unknown else ""
        print(f"fuzz: {choice or 'MINUTES must be a number between 0 and 100000'}", file=sys.stderr)
        return 2
    targets = [TARGETS[name] for name in arguments.targets or TARGETS]
    console = Console()
    if not console.is_terminal:
        console.width = _FILE_COLUMNS
    began_s = time.monotonic()
    seed = arguments.seed if arguments.seed is not None else int.from_bytes(os.urandom(4), "big")
    cores = len(os.sched_getaffinity(0))
    console.print(f"{arguments.minutes:g} minutes of {len(targets)} targets on {cores} cores, seed {seed}")
    control_lines.build()  # before the workers start, so that they do not all compile
    switch_frames.build()
    with tempfile.TemporaryDirectory(prefix="sfc-fuzz-") as name:
        try:
            results = _run_workers(targets, Path(name), arguments.minutes, seed, cores)
        except NoWorker as error:
            print(f"fuzz: a process did not start\n{error}", file=sys.stderr)
            return 2
        findings = {target: _save_findings(target, results[target]) for target in targets}
    console.print(_table(targets, results, findings, time.monotonic() - began_s))
    for target in targets:
        for kind, path in findings[target].items():
            console.print(f"{target.name}: {kind}\n  {path}", markup=False, highlight=False, soft_wrap=True)
    return int(any(findings.values()))


def _run_workers(
    targets: Sequence[Target], folder: Path, minutes: float, seed: int, cores: int
) -> Mapping[Target, list[tuple[Worked, float]]]:
    """Run a process for each target and core, `cores` at a time; return the result and the duration of each."""
    shares = sum(target.share for target in targets)

    def run(target: Target, core: int) -> tuple[Worked, float]:
        least = int(target.floor * min(1.0, minutes / _FLOOR_MINUTES) / cores)
        seconds = minutes * 60 * target.share / shares
        words = ["--seconds", f"{seconds:g}", "--seed", str(seed + core * 10**6), "--at-least", str(least)]
        began_s = time.monotonic()
        return work(target, folder / f"{target.name}-{core}", words), time.monotonic() - began_s

    with ThreadPoolExecutor(max_workers=cores) as pool:
        submitted = {target: [pool.submit(run, target, core) for core in range(cores)] for target in targets}
        return {target: [future.result() for future in futures] for target, futures in submitted.items()}


def _save_findings(target: Target, results: Sequence[tuple[Worked, float]]) -> dict[str, Path]:
    """Copy a case of each kind to the folder that the suite reads, and print the messages of these cases on stderr."""
    cases = {kind: path for worked, _ in results for kind, path in worked.found.items()}
    saved = {}
    for kind, path in cases.items():
        (FOUND / target.name).mkdir(parents=True, exist_ok=True)
        saved[kind] = Path(shutil.copy(path, FOUND / target.name))
        print(path.with_suffix(".txt").read_text(errors="backslashreplace"), file=sys.stderr)
    return saved


def _table(
    targets: Sequence[Target],
    results: Mapping[Target, Sequence[tuple[Worked, float]]],
    findings: Mapping[Target, Mapping[str, Path]],
    wall_s: float,
) -> Table:
    table = Table(
        title=f"inputs tried in {wall_s / 60:.1f} minutes", title_justify="left", box=None, padding=(0, 3, 0, 0)
    )
    for name in ("target", "input", "inputs tried", "inputs/s per core", "findings"):
        table.add_column(name, justify="left" if name in ("target", "input") else "right")
    for target in targets:
        inputs = sum(worked.inputs for worked, _ in results[target])
        busy_s = sum(seconds for _, seconds in results[target])
        rate = f"{inputs / busy_s:,.0f}"
        table.add_row(target.name, target.input_name, f"{inputs:,}", rate, str(len(findings[target])))
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz the inputs of the testbed.")
    parser.add_argument("minutes", type=float)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="targets to run (default: all)")
    parser.add_argument("--seed", type=int, help="random seed, to repeat the same cases (default: random)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
