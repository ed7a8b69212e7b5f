# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The measured part of docs/performance.md from docs/stored/performance.json: `python -m bench.document [FILE...]`.

Files are those that `python -m bench --json` printed: what they hold goes into the store, where the last measurement of
a benchmark counts, with the machine it was made on. The prose around the markers is written by hand and never touched.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.report.markdown import markdown_table
from bench.instruments.benchmark import Figure, Target
from bench.report import SCHEMA, value_text
from telemetry.atomic_file import replace_text

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "performance.md"
STORE = DOCUMENT.parent / "stored" / "performance.json"
BEGIN, END = "<!-- begin measured -->", "<!-- end measured -->"

Stored = dict[str, dict[str, Any]]
"""A benchmark's figures and its machine, by name."""


class DocumentError(Exception):
    """A file is not what it should be; the text names it."""


def read(path: Path) -> Stored:
    """What `python -m bench --json` or this module wrote. Benchmarks that were skipped are left out."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["schema"] != SCHEMA:
            raise DocumentError(f"{path}: schema {found['schema']!r}, expected {SCHEMA!r}")
        benchmarks = {
            name: {"machine": found.get("machine"), **benchmark}
            for name, benchmark in found["benchmarks"].items()
            if benchmark["figures"]
        }
        section(benchmarks)  # what cannot be shown is not taken
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DocumentError(f"{path}: {error or type(error).__name__}") from error
    return benchmarks


def section(stored: Stored) -> str:
    """One table for each benchmark, and the machine that it was measured on."""
    parts = []
    for name, benchmark in sorted(stored.items()):
        rows = [_cells(figure) for figure in benchmark["figures"]]
        table = markdown_table(("figure", "measured", "target", "note"), rows)
        parts += [f"### {name}", "", _machine_text(benchmark["machine"]), "", table]
    return "\n".join(parts)


def render(text: str, stored: Stored) -> str:
    """`text` with what stands between the markers made anew. DocumentError without a pair of them."""
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    wanted, count = pattern.subn(lambda _: f"{BEGIN}\n{section(stored)}\n{END}", text)
    if count != 1:
        raise DocumentError(f"{DOCUMENT.name}: expected one pair of markers {BEGIN} {END}, found {count}")
    return wanted


def _cells(stored: Mapping[str, Any]) -> tuple[str, str, str, str]:
    target = Target(**stored["target"]) if stored["target"] else None
    figure = Figure(stored["name"], stored["value"], stored["unit"], target, stored["note"])
    reached = "" if target is None else f"{target}: {'reached' if figure.is_reached else '**missed**'}"
    return figure.name, value_text(figure), reached, figure.note


def _machine_text(machine: Mapping[str, Any]) -> str:
    cpus, load = machine["cpus"], machine["load_1min"]
    shared = ", **shared with other work**" if load > cpus / 2 else ""
    date = machine.get("date", "date unknown")
    return f"{date}; {cpus} CPUs, load {load}{shared}; Linux {machine['kernel']}, Python {machine['python']}."


def main(arguments: Sequence[str] | None = None) -> int:
    """Takes files in and rewrites the document, or with --check says whether it is current (1 if not)."""
    parser = argparse.ArgumentParser(prog="python -m bench.document")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if the document is not current")
    parser.add_argument("files", nargs="*", type=Path, help="what `python -m bench --json` printed")
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
