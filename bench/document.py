# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Writes the tables of docs/performance.md and README.md: `python -m bench.document [FILE...]`.

Each FILE is the output of `python -m bench --json`. Its benchmarks, and the machine that they were measured on, replace
benchmarks of the same name in docs/stored/performance.json. The comparisons with others between the pages' markers are
then generated from that store. `python -m bench --show` prints the figures of each benchmark.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.comparison import comparison, simulators
from bench.instruments.benchmark import Figure, Target
from bench.report import SCHEMA, Report
from sfc_testbed.documents import stored as pages
from sfc_testbed.documents.stored import PageError, replaced
from sfc_testbed.telemetry.atomic_file import replace_text

DOCUMENT = pages.DOCS / "performance.md"
README = pages.DOCS.parent / "README.md"
STORE = DOCUMENT.parent / "stored" / "performance.json"

Stored = dict[str, dict[str, Any]]
"""The figures and the machine of each benchmark, by the benchmark's name."""


class DocumentError(Exception):
    """A file that is not a valid benchmark result; the text names the file."""


def read(path: Path) -> Stored:
    """Return the benchmarks in a file that `python -m bench --json` or this module wrote, without the skipped ones.

    Raise DocumentError when the file cannot be read, has another schema, or lacks a key that the document needs.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["schema"] != SCHEMA:
            raise DocumentError(f"{path}: schema {content['schema']!r}, expected {SCHEMA!r}")
        benchmarks = {
            name: {"machine": content.get("machine"), **benchmark}
            for name, benchmark in content["benchmarks"].items()
            if benchmark["figures"]
        }
        for benchmark in benchmarks.values():
            report_of("", benchmark)
            machine_text(benchmark["machine"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DocumentError(f"{path}: {error or type(error).__name__}") from error
    return benchmarks


def report_of(name: str, benchmark: Mapping[str, Any]) -> Report:
    """Return a stored benchmark as if it had just been measured."""
    return Report(name, [_figure(figure) for figure in benchmark["figures"]], wall_s=benchmark["wall_s"])


def render(stored: Stored) -> dict[Path, str]:
    """Return the pages with new content between their markers. Raise PageError unless each has one pair of markers."""
    figures = [_figure(figure) for benchmark in stored.values() for figure in benchmark["figures"]]
    contents = ((DOCUMENT, "comparison", comparison(figures)), (README, "simulators", simulators(figures)))
    return {page: replaced(page, page.read_text(encoding="utf-8"), name, content) for page, name, content in contents}


def _figure(stored: Mapping[str, Any]) -> Figure:
    target = Target(**stored["target"]) if stored["target"] else None
    return Figure(stored["name"], stored["value"], stored["unit"], target, stored["note"])


def machine_text(machine: Mapping[str, Any]) -> str:
    """Return the date and the machine of a measurement, and whether other work used the machine too."""
    cpus, load = machine["cpus"], machine["load_1min"]
    shared = ", shared with other work" if load > cpus / 2 else ""
    date = machine.get("date", "date unknown")
    return f"{date}; {cpus} CPUs, load {load}{shared}; Linux {machine['kernel']}, Python {machine['python']}."


def _as_lines(stored: Stored) -> str:
    """Return the stored benchmarks as JSON with one figure in each line."""
    benchmarks = []
    for name, benchmark in stored.items():
        figures = ",\n".join(json.dumps(figure) for figure in benchmark["figures"])
        head = json.dumps({key: value for key, value in benchmark.items() if key != "figures"})
        benchmarks.append(f'{json.dumps(name)}: {head.removesuffix("}")}, "figures": [\n{figures}\n]}}')
    return f'{{"schema": {json.dumps(SCHEMA)}, "benchmarks": {{\n{",".join(benchmarks)}\n}}}}\n'


def main(arguments: Sequence[str] | None = None) -> int:
    """Store the files' benchmarks and rewrite the document. With --check, only return 1 if the document is outdated."""
    parser = argparse.ArgumentParser(prog="python -m bench.document")
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 if the document is outdated")
    parser.add_argument("files", nargs="*", type=Path, help="output files of `python -m bench --json`")
    options = parser.parse_args(arguments)
    try:
        stored = read(STORE) if STORE.exists() else {}
        for path in options.files:
            stored.update(read(path))
        wanted = render(stored)
    except (DocumentError, PageError) as error:
        print(error, file=sys.stderr)
        return 2
    if options.check:
        return int(any(text != page.read_text(encoding="utf-8") for page, text in wanted.items()))
    if options.files:
        replace_text(STORE, _as_lines(stored))
    for page, text in wanted.items():
        if text != page.read_text(encoding="utf-8"):
            replace_text(page, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
