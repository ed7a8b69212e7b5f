# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`python -m bench [NAME...] [--json | --show]`: runs benchmarks and prints what they measured, or stored figures.

Exit codes: 0 measured (targets may be missed: the table says so), 2 bad input.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone

from bench.catalogue import BENCHMARKS
from bench.document import STORE, DocumentError, machine_text, read, report_of
from bench.instruments.benchmark import Benchmark, Skipped
from bench.report import Report, as_json, show
from sfc_testbed.api.console import TextConsole
from sfc_testbed.cli.output import allow_any_encoding

_FILE_COLUMNS = 140


def main(words: Sequence[str] | None = None) -> int:
    """Run the selected benchmarks and return the exit code of the command."""
    arguments = _parser().parse_args(words)
    unknown = [name for name in arguments.names if name not in BENCHMARKS]
    if unknown:
        print(f"bench: unknown benchmark {unknown[0]!r}; choose from {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    allow_any_encoding()
    console = TextConsole(stderr=arguments.json, markup=True)
    if not console.is_terminal:
        console.width = _FILE_COLUMNS
    if arguments.show:
        return _show_stored(arguments.names, console)
    description = machine()
    note = "absolute figures hold for this machine only; the two sides of a ratio were measured in the same run"
    console.print(f"[dim]{_machine_text(description)}; {note}[/]\n")
    reports = []
    for name in arguments.names or BENCHMARKS:
        benchmark = BENCHMARKS[name]()
        reports.append(_measure(benchmark))
        show(reports[-1], benchmark.summary, console)
    if arguments.json:
        print(as_json(reports, description))
    return 0


def _show_stored(names: Sequence[str], console: TextConsole) -> int:
    """Print the stored figures of these benchmarks, or of all."""
    try:
        stored = read(STORE)
    except DocumentError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    for name in names or stored:
        if name in stored:
            console.print(f"[dim]{machine_text(stored[name]['machine'])}[/]")
            show(report_of(name, stored[name]), BENCHMARKS[name].summary, console)
        else:
            console.print(f"[bold]{name}[/] no figures are stored\n")
    return 0


def machine() -> Mapping[str, object]:
    """Return the date, CPU count, load, kernel and Python version that a reader needs to interpret the figures."""
    return {
        "date": datetime.now(timezone.utc).date().isoformat(),
        "cpus": len(os.sched_getaffinity(0)),
        "load_1min": round(os.getloadavg()[0], 2),
        "kernel": platform.release(),
        "python": platform.python_version(),
    }


def _machine_text(machine: Mapping[str, object]) -> str:
    cpus, load = machine["cpus"], machine["load_1min"]
    return f"{cpus} CPUs, load {load}, Linux {machine['kernel']}, Python {machine['python']}"


def _measure(benchmark: Benchmark) -> Report:
    began_s = time.perf_counter()
    try:
        figures = benchmark.run()
    except Skipped as reason:
        return Report(benchmark.name, skipped=str(reason))
    return Report(benchmark.name, figures, wall_s=time.perf_counter() - began_s)


def _parser() -> argparse.ArgumentParser:
    names = "".join(f"\n  {name:<14}{benchmark.summary}" for name, benchmark in BENCHMARKS.items())
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure packet paths, wires, simulation, start-up, and the planning and reporting of a run.",
        epilog=f"benchmarks:{names}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks to run (default: all)")
    parser.add_argument(
        "--json", action="store_true", help="print the results as JSON on stdout and the tables on stderr"
    )
    parser.add_argument(
        "--show", action="store_true", help="print the figures stored in docs/stored/performance.json; measure nothing"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
