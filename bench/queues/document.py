# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Writes the measured part of softswitch/docs/tutorial-queues.md: `python -m bench.queues.document [FILE]`.

FILE is the `queues.json` of `python -m bench.queues`. It replaces the stored measurements, from which the table between
the markers of the page and its figure are made. `python -m bench.queues --show` prints the other tables.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from bench.queues.figures import write_figures
from bench.queues.store import Store, StoreError, read, write
from bench.queues.tables import TABLES, rows_of, worst_rows
from bench.queues.targets import TARGETS
from sfc_testbed.analysis.formatting import markdown_table, three_digits
from sfc_testbed.documents.pictures import with_few_colors
from sfc_testbed.documents.stored import PageError, replaced
from sfc_testbed.telemetry.atomic_file import replace_text

_DOCS = Path(__file__).resolve().parents[2] / "softswitch" / "docs"
DOCUMENT = _DOCS / "tutorial-queues.md"
STORE = _DOCS / "tutorial-queues.json"
IMAGES = _DOCS
_SHOWN = "mri"
"""The exercise whose figure is on the page."""
_WORST_HEADINGS = ("quantity", *(target.label for target in TARGETS))
_HEADINGS = ("rate (Mb/s)", "load", "theory", *(target.label for target in TARGETS))


def main(arguments: Sequence[str] | None = None) -> int:
    """Store the file's measurements and rewrite the page. With --check, only return 1 if the page is outdated."""
    parser = argparse.ArgumentParser(prog="python -m bench.queues.document")
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 if the page is outdated")
    parser.add_argument("file", nargs="?", type=Path, help="queues.json of `python -m bench.queues`")
    options = parser.parse_args(arguments)
    try:
        store = read(options.file or STORE)
        current = DOCUMENT.read_text(encoding="utf-8")
        wanted = render(current, store)
    except (PageError, OSError, StoreError) as error:
        print(error, file=sys.stderr)
        return 2
    if options.check:
        return int(wanted != current)
    if options.file:
        write(STORE, store)
        for picture in write_figures([record for record in store.records if record.exercise == _SHOWN], IMAGES):
            with_few_colors(picture)
    if wanted != current:
        replace_text(DOCUMENT, wanted)
    return 0


def render(text: str, store: Store) -> str:
    """Return the page with new content between its markers. Raise PageError unless there is one pair of them."""
    table = markdown_table(_WORST_HEADINGS, worst_rows(store.records))
    return replaced(DOCUMENT, text, "measured", f"{conditions(store)}\n\n{table}")


def tables(store: Store, exercises: Sequence[str]) -> Iterator[Table]:
    """Yield a table for each quantity of the exercises, with a row for each rate and load, for the terminal."""
    for quantity in TABLES:
        records = [record for record in store.records if record.exercise == quantity.exercise in exercises]
        if records:
            table = Table(*_HEADINGS, title=f"{quantity.title}: {quantity.unit}", box=SIMPLE_HEAD)
            for row in rows_of(records, quantity):
                table.add_row(*row)
            yield table


def conditions(store: Store) -> str:
    """Return the date and the machine of the measurements, and the lateness of the sender."""
    late_ms = max((record.most_late_ms for record in store.records), default=0.0)
    return f"{_machine_text(store.machine)} The sender was at most {three_digits(late_ms)} ms late."


def _machine_text(machine: Mapping[str, Any]) -> str:
    return (
        f"{machine['date']}; {machine['cpus']} CPUs, load {machine['load_1min']}; Linux {machine['kernel']}, "
        f"BMv2 {machine['bmv2'] or 'not measured'}, tutorials {machine['tutorials']}."
    )


if __name__ == "__main__":
    sys.exit(main())
