# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Writes the measured part of docs/targets/tutorial-queues.md: `python -m bench.queues.document [FILE]`.

FILE is the `queues.json` of `python -m bench.queues`. It replaces docs/stored/tutorial-queues.json. Tables between the
markers of the page and the figures are made from that store; the text outside the markers is written by hand.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.formatting import markdown_table, three_digits
from bench.queues.figures import write_figures
from bench.queues.store import Store, StoreError, read, write
from bench.queues.tables import TABLES, rows_of, worst_rows
from bench.queues.targets import TARGETS
from telemetry.atomic_file import replace_text

_DOCS = Path(__file__).resolve().parents[2] / "docs"
DOCUMENT = _DOCS / "targets" / "tutorial-queues.md"
STORE = _DOCS / "stored" / "tutorial-queues.json"
IMAGES = _DOCS / "images"
_BEGIN, _END = "<!-- begin measured -->", "<!-- end measured -->"
_WORST_HEADINGS = ("quantity", *(target.label for target in TARGETS))
_HEADINGS = ("rate (Mb/s)", "load", "theory", *(target.label for target in TARGETS))


class DocumentError(Exception):
    """A page without its markers; the message names the page."""


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
    except (DocumentError, OSError, StoreError) as error:
        print(error, file=sys.stderr)
        return 2
    if options.check:
        return int(wanted != current)
    if options.file:
        write(STORE, store)
    write_figures(store.records, IMAGES)
    if wanted != current:
        replace_text(DOCUMENT, wanted)
    return 0


def render(text: str, store: Store) -> str:
    """Return the page with new content between its markers. Raise DocumentError unless there is one pair of them."""
    wanted, count = re.subn(
        re.escape(_BEGIN) + ".*?" + re.escape(_END), lambda _: f"{_BEGIN}\n{section(store)}\n{_END}", text, flags=re.S
    )
    if count != 1:
        raise DocumentError(f"{DOCUMENT.name}: expected one pair of markers {_BEGIN} {_END}, found {count}")
    return wanted


def section(store: Store) -> str:
    """Return Markdown with the largest differences from theory, and then a table for each quantity."""
    late_ms = max((record.most_late_ms for record in store.records), default=0.0)
    parts = [_machine_text(store.machine) + f" The sender was at most {three_digits(late_ms)} ms late."]
    parts += ["", "### Largest difference from theory", "", markdown_table(_WORST_HEADINGS, worst_rows(store.records))]
    for table in TABLES:
        if records := [record for record in store.records if record.exercise == table.exercise]:
            rows = markdown_table(_HEADINGS, rows_of(records, table))
            parts += [f"### {table.title}", "", table.unit, "", rows]
    return "\n".join(parts).rstrip("\n")


def _machine_text(machine: Mapping[str, Any]) -> str:
    return (
        f"{machine['date']}; {machine['cpus']} CPUs, load {machine['load_1min']}; Linux {machine['kernel']}, "
        f"BMv2 {machine['bmv2'] or 'not measured'}, tutorials {machine['tutorials']}."
    )


if __name__ == "__main__":
    sys.exit(main())
