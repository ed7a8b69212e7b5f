# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The file of measurements (JSON): one record for each exercise, rate, load and target.

Curves are stored as means over short intervals. Theory is not stored, because it follows from rate and load.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.queues.exercises import EXERCISES, LOADS
from bench.queues.measurement import Measurement

SCHEMA = 1
CURVE_STEP_S = 0.02


class StoreError(Exception):
    """A file that holds no measurements; the message names the file."""


@dataclass(frozen=True)
class Record:
    """A stored measurement."""

    exercise: str
    target: str
    rate_bps: int
    load: str
    sent: int
    received: int
    throughput_bps: float | None
    most_late_ms: float
    figures: Mapping[str, float | None]
    curve_s: Sequence[float]
    """The end of each interval of the curve."""
    curve: Sequence[float]

    @property
    def lost(self) -> int:
        """The data frames that did not arrive."""
        return self.sent - self.received


@dataclass(frozen=True)
class Store:
    """All measurements of a command, and the machine."""

    machine: Mapping[str, Any]
    records: Sequence[Record]


def record_of(exercise: str, target: str, rate_bps: int, load: str, measured: Measurement) -> Record:
    curve_s, curve = measured.times_s, measured.values
    if not EXERCISES[exercise].probe_interval_s:
        curve_s, curve = _means(curve_s, curve)
    return Record(
        exercise,
        target,
        rate_bps,
        load,
        measured.sent,
        measured.received,
        measured.throughput_bps and round(measured.throughput_bps, 1),
        round(measured.most_late_s * 1e3, 3),
        {name: value and round(value, 4) for name, value in measured.figures.items()},
        [round(time_s, 3) for time_s in curve_s],
        [round(value, 3) for value in curve],
    )


def _means(times_s: Sequence[float], values: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the mean of the values in each interval that has any, by the end of the interval."""
    if not times_s:
        return [], []
    places, inverse = np.unique(np.maximum(np.array(times_s) // CURVE_STEP_S, 0), return_inverse=True)
    means = np.bincount(inverse, weights=values) / np.bincount(inverse)
    return ((places + 1) * CURVE_STEP_S).tolist(), means.tolist()


def write(path: Path, store: Store) -> None:
    """Write the measurements, one in each line."""
    lines = ",\n".join(json.dumps(asdict(record), separators=(",", ":")) for record in store.records)
    path.write_text(
        f'{{"schema": {SCHEMA}, "machine": {json.dumps(store.machine)}, "records": [\n{lines}\n]}}\n', encoding="utf-8"
    )


def read(path: Path) -> Store:
    """Return the measurements in a file. Raise StoreError if it cannot be read or holds something else."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["schema"] != SCHEMA:
            raise StoreError(f"{path}: schema {content['schema']!r}, expected {SCHEMA}")
        records = [Record(**record) for record in content["records"]]
        if unknown := {record.load for record in records} - set(LOADS):
            raise StoreError(f"{path}: unknown load {min(unknown)!r}; measure again with this version")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{path}: {error or type(error).__name__}") from error
    return Store(content["machine"], records)
