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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from analysis.formatting import NOTHING, markdown_table, three_digits
from bench.queues.exercises import BUFFER_PACKETS, ECN_THRESHOLD, EXERCISES, LOADS
from bench.queues.figures import write_figures
from bench.queues.network import TARGETS
from bench.queues.store import Record, Store, StoreError, read, write
from bench.queues.theory import FluidQueue, Load, fluid_queue
from telemetry.atomic_file import replace_text

_DOCS = Path(__file__).resolve().parents[2] / "docs"
DOCUMENT = _DOCS / "targets" / "tutorial-queues.md"
STORE = _DOCS / "stored" / "tutorial-queues.json"
IMAGES = _DOCS / "images"
_BEGIN, _END = "<!-- begin measured -->", "<!-- end measured -->"
_MEGA = 1e6
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
    """Return Markdown with the summary of softswitch and the tables of all exercises."""
    machine = store.machine
    parts = [
        f"Measured on {machine['date']}; {machine['cpus']} CPUs, load {machine['load_1min']}, Linux "
        f"{machine['kernel']}. The sender was at most "
        f"{three_digits(max((record.most_late_ms for record in store.records), default=0.0))} ms late.",
    ]
    for table in _TABLES:
        if records := [record for record in store.records if record.exercise == table.exercise]:
            rows = markdown_table(_HEADINGS, _rows(records, table))
            parts += ["", f"#### {table.title}", "", f"{table.unit}", "", rows.rstrip("\n")]
    return "\n".join(parts)


@dataclass(frozen=True)
class _Table:
    """A table of the page: what it shows of a record, and the theory in the same form."""

    title: str
    exercise: str
    unit: str
    """A sentence about the cells."""
    expected: Callable[[FluidQueue, Load, int], str]
    measured: Callable[[Record, Load], str]


def _rows(records: Sequence[Record], table: _Table) -> list[tuple[str, ...]]:
    """Return a row for each rate and load that was measured."""
    by_place = {(record.rate_bps, record.load, record.target): record for record in records}
    rows = []
    for rate_bps, load in product(sorted({record.rate_bps for record in records}), LOADS.values()):
        found = [by_place.get((rate_bps, load.name, target.name)) for target in TARGETS]
        if any(found):
            expected = table.expected(fluid_queue(load, rate_bps, BUFFER_PACKETS), load, rate_bps)
            cells = [table.measured(record, load) if record else NOTHING for record in found]
            rows.append((f"{rate_bps / _MEGA:g}", load.name, expected, *cells))
    return rows


def _expected_bps(load: Load, rate_bps: int) -> float:
    """Return the bits/s that pass the bottleneck: a burst passes at its rate."""
    return rate_bps * min(load.offered_share or 1.0, 1.0)


def _expected_utilisation_bps(load: Load, rate_bps: int) -> float:
    """Return the rate that probes report. They count themselves. The probe behind a burst reports the whole of it."""
    probes = EXERCISES["link_monitor"]
    if load.burst_frames:
        offered_bps = load.burst_frames * load.mean_bits / probes.probe_interval_s
    else:
        offered_bps = load.offered_share * rate_bps
    return min(offered_bps + probes.probes_bps, rate_bps)


def _rate_text(measured_bps: float | None, expected_bps: float) -> str:
    if measured_bps is None:
        return NOTHING
    return f"{measured_bps / _MEGA:.3f} ({100 * (measured_bps / expected_bps - 1):+.1f} %)"


def _depth_text(record: Record, load: Load) -> str:
    peak, error = record.figures["peak"], record.figures["mean_error"]
    return NOTHING if peak is None or error is None else f"{peak:.0f}; {error:.1f}"


def _marks_text(first_s: float | None, marked: float | None) -> str:
    return "none" if first_s is None or not marked else f"{first_s:.3f} s; {marked:.0f}"


_TABLES = (
    _Table(
        "Throughput and loss",
        "mri",
        "Mb/s of the frames that arrive in the second half of the load; frames lost of all frames.",
        lambda theory, load, rate: f"{_expected_bps(load, rate) / _MEGA:.3f}; {theory.lost:.0f}",
        lambda record, load: (
            f"{_rate_text(record.throughput_bps, _expected_bps(load, record.rate_bps))}; {record.lost} of {record.sent}"
        ),
    ),
    _Table(
        "Queue depth in the exercise mri",
        "mri",
        "Deepest queue that a frame left behind; mean error over time, both in packets.",
        lambda theory, load, rate: f"{theory.peak_behind:.0f}",
        _depth_text,
    ),
    _Table(
        "Marks in the exercise ecn",
        "ecn",
        "Time at which the first marked frame was sent; number of marked frames.",
        lambda theory, load, rate: _marks_text(theory.first_time_of(ECN_THRESHOLD), theory.marked(ECN_THRESHOLD)),
        lambda record, load: _marks_text(record.figures["first_mark_s"], record.figures["marked"]),
    ),
    _Table(
        "Utilisation in the exercise link_monitor",
        "link_monitor",
        "Mb/s that the probes report for the bottleneck, mean of the second half of the load.",
        lambda theory, load, rate: f"{_expected_utilisation_bps(load, rate) / _MEGA:.3f}",
        lambda record, load: _rate_text(
            record.figures["utilisation_bps"], _expected_utilisation_bps(load, record.rate_bps)
        ),
    ),
)


if __name__ == "__main__":
    sys.exit(main())
