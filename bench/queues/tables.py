# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The tables of measurements beside theory: what each shows of a record, and the theory in the same form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from bench.queues.exercises import BUFFER_PACKETS, ECN_THRESHOLD, EXERCISES, LOADS
from bench.queues.store import Record
from bench.queues.targets import TARGETS
from bench.queues.theory import FluidQueue, Load, fluid_queue
from sfc_testbed.analysis.formatting import NOTHING

_MEGA = 1e6


def worst_rows(records: Sequence[Record]) -> list[tuple[str, ...]]:
    """Return a row for each quantity: its largest difference from theory, over all rates and loads, by target."""
    rows = []
    for quantity, exercise, difference in _DIFFERENCES:
        cells = []
        for target in TARGETS:
            found = [record for record in records if (record.exercise, record.target) == (exercise, target.name)]
            differences = [abs(value) for record in found if (value := difference(record)) is not None]
            cells.append(f"{max(differences):.1f}" if differences else NOTHING)
        rows.append((quantity, *cells))
    return rows


@dataclass(frozen=True)
class Table:
    """A table of the page: what it shows of a record, and the theory in the same form."""

    title: str
    exercise: str
    unit: str
    """A sentence about the cells."""
    expected: Callable[[FluidQueue, Load, int], str]
    measured: Callable[[Record, Load], str]


def rows_of(records: Sequence[Record], table: Table) -> list[tuple[str, ...]]:
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
    percent = _percent(measured_bps, expected_bps)
    if measured_bps is None or percent is None:
        return NOTHING
    return f"{measured_bps / _MEGA:.3f} ({round(percent, 1) + 0.0:+.1f} %)"  # + 0.0 turns -0.0 into 0.0


def _depth_text(record: Record, load: Load) -> str:
    peak, error = record.figures["peak"], record.figures["mean_error"]
    return NOTHING if peak is None or error is None else f"{peak:.0f}; {error:.1f}"


def _marks_text(first_s: float | None, marked: float | None) -> str:
    return "none" if first_s is None or not marked else f"{first_s:.3f} s; {marked:.0f}"


def _theory_of(record: Record) -> FluidQueue:
    return fluid_queue(LOADS[record.load], record.rate_bps, BUFFER_PACKETS)


def _percent(measured_bps: float | None, expected_bps: float) -> float | None:
    return None if measured_bps is None else 100 * (measured_bps / expected_bps - 1)


_DIFFERENCES: Sequence[tuple[str, str, Callable[[Record], float | None]]] = (
    (
        "throughput (% of theory)",
        "mri",
        lambda record: _percent(record.throughput_bps, _expected_bps(LOADS[record.load], record.rate_bps)),
    ),
    (
        "lost frames (% of those sent)",
        "mri",
        lambda record: 100 * (record.lost - _theory_of(record).lost) / record.sent,
    ),
    ("queue depth in `mri`, mean over time (packets)", "mri", lambda record: record.figures["mean_error"]),
    (
        "marked frames in `ecn` (% of those sent)",
        "ecn",
        lambda record: (
            100 * ((record.figures["marked"] or 0.0) - _theory_of(record).marked(ECN_THRESHOLD)) / record.sent
        ),
    ),
    (
        "utilisation in `link_monitor` (% of theory)",
        "link_monitor",
        lambda record: _percent(
            record.figures["utilisation_bps"], _expected_utilisation_bps(LOADS[record.load], record.rate_bps)
        ),
    ),
)


TABLES: Sequence[Table] = (
    Table(
        "Throughput and loss",
        "mri",
        "Mb/s of the frames that arrive in the second half of the load; frames lost of all frames.",
        lambda theory, load, rate: f"{_expected_bps(load, rate) / _MEGA:.3f}; {theory.lost:.0f}",
        lambda record, load: (
            f"{_rate_text(record.throughput_bps, _expected_bps(load, record.rate_bps))}; {record.lost} of {record.sent}"
        ),
    ),
    Table(
        "Queue depth in the exercise mri",
        "mri",
        "Deepest queue that a frame left behind; mean error over time, both in packets.",
        lambda theory, load, rate: f"{theory.peak_behind:.0f}",
        _depth_text,
    ),
    Table(
        "Marks in the exercise ecn",
        "ecn",
        "Time at which the first marked frame was sent; number of marked frames.",
        lambda theory, load, rate: _marks_text(theory.first_time_of(ECN_THRESHOLD), theory.marked(ECN_THRESHOLD)),
        lambda record, load: _marks_text(record.figures["first_mark_s"], record.figures["marked"]),
    ),
    Table(
        "Utilisation in the exercise link_monitor",
        "link_monitor",
        "Mb/s that the probes report for the bottleneck, mean of the second half of the load.",
        lambda theory, load, rate: f"{_expected_utilisation_bps(load, rate) / _MEGA:.3f}",
        lambda record, load: _rate_text(
            record.figures["utilisation_bps"], _expected_utilisation_bps(load, record.rate_bps)
        ),
    ),
)
