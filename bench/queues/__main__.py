# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`python -m bench.queues --tutorials CLONE`: measures the queues of the P4 tutorials' exercises against theory.

Exit codes: 0 measured, 2 bad input or a switch that does not start.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from bench.__main__ import machine
from bench.queues.document import STORE, conditions, tables
from bench.queues.exercises import BUFFER_PACKETS, EXERCISES, LOADS, RATES_BPS, Exercise
from bench.queues.figures import write_figures
from bench.queues.measurement import Hosts, MeasurementError, measure, record
from bench.queues.store import Record, Store, StoreError, read, record_of, write
from bench.queues.targets import SOFTSWITCH, TARGETS, StartError, Target
from bench.queues.theory import Load, fluid_queue
from sfc_testbed.api.console import TextConsole
from sfc_testbed.testbed.targets.bmv2.installation import simple_switch_on_path
from softswitch.build import BuildError, build_executable
from softswitch.control import CommandError
from softswitch.p4c import CompileError, program_json

VARIABLE = "SFC_TESTBED_P4_TUTORIALS"
RESULT = "queues.json"
_PROBES_AFTER_LOAD = 3


class UsageError(Exception):
    """Bad input; the message is one line."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and write the measurements and their figures."""
    options = _parser().parse_args(arguments)
    if options.show:
        return _show(options.show, options.exercises)
    try:
        sources = {name: _source(EXERCISES[name], options.tutorials) for name in options.exercises}
        targets = _targets(options.bmv2)
        programs = {name: _compiled(source) for name, source in sources.items()}
        options.out.mkdir(parents=True, exist_ok=True)
        records = list(_measure_all(programs, options.rates, targets, options.bmv2 or ""))
    except (BuildError, CommandError, CompileError, MeasurementError, OSError, StartError, UsageError) as error:
        print(f"bench.queues: {error}", file=sys.stderr)
        return 2
    versions = {
        "bmv2": _printed(options.bmv2, "--version") if options.bmv2 else "",
        "tutorials": _commit(options.tutorials),
    }
    store = Store({**machine(), **versions}, records)
    write(options.out / RESULT, store)
    for path in write_figures(store.records, options.out):
        print(path)
    print(options.out / RESULT)
    return 0


def _show(path: Path, exercises: Sequence[str]) -> int:
    try:
        store = read(path)
    except StoreError as error:
        print(f"bench.queues: {error}", file=sys.stderr)
        return 2
    console = TextConsole()
    console.print(conditions(store))
    for table in tables(store, exercises):
        console.print(table)
    return 0


def measure_load(hosts: Hosts, exercise: Exercise, rate_bps: int, load: Load, target: Target) -> Record:
    """Offer a load to a network and return what the exercise reported."""
    theory = fluid_queue(load, rate_bps, BUFFER_PACKETS)
    end_s = theory.empty_s + _PROBES_AFTER_LOAD * exercise.probe_interval_s
    recording = record(hosts, exercise.frames(load, rate_bps, end_s), end_s)
    wire_s = 0.0 if target.has_packet_rate else 1 / theory.serving_pps
    measured = measure(exercise, load, rate_bps, theory, recording, wire_s)
    return record_of(exercise.name, target.name, rate_bps, load.name, measured)


def _measure_all(
    programs: dict[str, Path], rates_bps: Sequence[int], targets: Sequence[Target], bmv2: str
) -> Iterator[Record]:
    from bench.queues.network import bottleneck  # the only part that needs Mininet

    for name, program in programs.items():
        for rate_bps in rates_bps:
            for target in targets:
                with (
                    tempfile.TemporaryDirectory(prefix="queues-") as folder,
                    bottleneck(EXERCISES[name], program, rate_bps, target, Path(folder), bmv2=bmv2) as hosts,
                ):
                    for load in LOADS.values():
                        print(f"{name}, {rate_bps / 1e6:g} Mb/s, {target.label}, load {load.name}", flush=True)
                        yield measure_load(hosts, EXERCISES[name], rate_bps, load, target)


def _source(exercise: Exercise, tutorials: Path | None) -> Path:
    """Return the path of the solution of an exercise. Raise UsageError if there is none."""
    if tutorials is None:
        raise UsageError(f"no clone of github.com/p4lang/tutorials; name it with --tutorials or {VARIABLE}")
    source = exercise.program(tutorials)
    if not source.is_file():
        raise UsageError(f"{source} not found; {tutorials} must be a clone of github.com/p4lang/tutorials")
    return source


def _compiled(source: Path) -> Path:
    """Compile a program for both switches and return its JSON."""
    program = program_json(source)
    build_executable(program)
    return program


def _commit(tutorials: Path) -> str:
    """Return the commit of a clone, or an empty text for a folder that is no clone."""
    return _printed("git", "-C", str(tutorials), "-c", f"safe.directory={tutorials}", "rev-parse", "--short", "HEAD")


def _printed(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()


def _targets(bmv2: str | None) -> list[Target]:
    """Return the targets, without BMv2 if there is none. Raise UsageError for a missing privilege or program."""
    if os.geteuid() != 0:
        raise UsageError("network namespaces need root; use sudo")
    if shutil.which("mnexec") is None or find_spec("mininet") is None:
        raise UsageError("Mininet is not installed; type make setup")
    if bmv2 is None:
        print("bench.queues: without BMv2, because no simple_switch is on the PATH; --bmv2 names one", file=sys.stderr)
        return [SOFTSWITCH]
    if shutil.which(bmv2) is None:
        raise UsageError(f"--bmv2 {bmv2}: no such program")
    return list(TARGETS)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.queues", description=(__doc__ or "").splitlines()[0])
    default = os.environ.get(VARIABLE)
    parser.add_argument(
        *("--tutorials", "-t"),
        type=Path,
        default=Path(default) if default else None,
        help=f"clone of github.com/p4lang/tutorials (default: ${VARIABLE})",
    )
    parser.add_argument("--bmv2", default=simple_switch_on_path(), help="BMv2's simple_switch (default: from the PATH)")
    parser.add_argument(
        "--exercises", nargs="+", choices=EXERCISES, default=list(EXERCISES), help="exercises (default: all)"
    )
    parser.add_argument(
        "--rates",
        nargs="+",
        type=_rate_bps,
        default=list(RATES_BPS),
        metavar="MBPS",
        help="rates of the bottleneck in Mb/s (default: 1 5)",
    )
    parser.add_argument(
        "--show",
        nargs="?",
        type=Path,
        const=STORE,
        metavar="FILE",
        help="print the tables of FILE, or of the stored measurements; measure nothing",
    )
    parser.add_argument("--out", type=Path, default=Path("queues"), help="folder for results (default: queues)")
    return parser


def _rate_bps(text: str) -> int:
    rate_bps = round(float(text) * 1e6)
    if not 100_000 <= rate_bps <= 20_000_000:
        raise argparse.ArgumentTypeError(f"{text} Mb/s is not between 0.1 and 20, where the sender keeps its schedule")
    return rate_bps


if __name__ == "__main__":
    sys.exit(main())
