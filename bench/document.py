# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Writes the measured parts of docs/performance.md: `python -m bench.document [FILE...]`.

Each FILE is the output of `python -m bench --json`. Its benchmarks, and the machine that they were measured on, replace
benchmarks of the same name in docs/stored/performance.json. The tables between the markers of the document are then
generated from that store: the comparison with others, and the figures of each benchmark. The text outside the markers
is written by hand and stays unchanged.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.formatting import markdown_table
from bench.comparison import comparison
from bench.instruments.benchmark import Figure, Target
from bench.report import SCHEMA, value_text
from telemetry.atomic_file import replace_text

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "performance.md"
STORE = DOCUMENT.parent / "stored" / "performance.json"

Stored = dict[str, dict[str, Any]]
"""The figures and the machine of each benchmark, by the benchmark's name."""


class DocumentError(Exception):
    """A file that is not a valid benchmark result or document; the text names the file."""


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
        section(benchmarks)  # raises an error for a benchmark that the document cannot show
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DocumentError(f"{path}: {error or type(error).__name__}") from error
    return benchmarks


def section(stored: Stored) -> str:
    """Return Markdown with a table for each benchmark and a line about the machine that it was measured on."""
    parts = []
    for name, benchmark in sorted(stored.items()):
        rows = [_cells(figure) for figure in benchmark["figures"]]
        table = markdown_table(("figure", "measured", "target", "note"), rows)
        parts += [f"### {name}", "", _machine_text(benchmark["machine"]), "", table]
    return "\n".join(parts)


def render(text: str, stored: Stored) -> str:
    """Return `text` with new content between its markers. Raise DocumentError unless there is one pair of each."""
    figures = [_figure(figure) for benchmark in stored.values() for figure in benchmark["figures"]]
    return _replaced(_replaced(text, "comparison", comparison(figures)), "measured", section(stored))


def _replaced(text: str, name: str, content: str) -> str:
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    wanted, count = pattern.subn(lambda _: f"{begin}\n{content}\n{end}", text)
    if count != 1:
        raise DocumentError(f"{DOCUMENT.name}: expected one pair of markers {begin} {end}, found {count}")
    return wanted


def _figure(stored: Mapping[str, Any]) -> Figure:
    target = Target(**stored["target"]) if stored["target"] else None
    return Figure(stored["name"], stored["value"], stored["unit"], target, stored["note"])


def _cells(stored: Mapping[str, Any]) -> tuple[str, str, str, str]:
    figure = _figure(stored)
    reached = "" if figure.target is None else f"{figure.target}: {'reached' if figure.is_reached else '**missed**'}"
    return figure.name, value_text(figure), reached, figure.note


def _machine_text(machine: Mapping[str, Any]) -> str:
    cpus, load = machine["cpus"], machine["load_1min"]
    shared = ", **shared with other work**" if load > cpus / 2 else ""
    date = machine.get("date", "date unknown")
    return f"{date}; {cpus} CPUs, load {load}{shared}; Linux {machine['kernel']}, Python {machine['python']}."


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
        current = DOCUMENT.read_text(encoding="utf-8")
        wanted = render(current, stored)
    except DocumentError as error:
        print(error, file=sys.stderr)
        return 2
    if options.check:
        return int(wanted != current)
    if options.files:
        replace_text(STORE, json.dumps({"schema": SCHEMA, "benchmarks": stored}, indent=2) + "\n")
    if wanted != current:
        replace_text(DOCUMENT, wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
