# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Draws what each exercise reported over time, with the theory, as PNG files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.queues.exercises import BUFFER_PACKETS, ECN_THRESHOLD, LOADS
from bench.queues.store import CURVE_STEP_S, Record
from bench.queues.targets import TARGETS
from bench.queues.theory import FluidQueue, fluid_queue
from sfc_testbed.analysis.plots.canvas import draw, save_figure
from sfc_testbed.analysis.plots.description import Plot
from sfc_testbed.analysis.plots.palette import DASH_CYCLE, INK
from sfc_testbed.analysis.plots.panels import Curve, CurveLook, Panel, numbered_looks, plot_panels
from sfc_testbed.analysis.plots.series import Points

_LOWEST, _HIGHEST = 0, -1
_SHOWN: Mapping[str, Sequence[tuple[str, int]]] = {
    "mri": (("1.5", _LOWEST), ("1.5", _HIGHEST), ("burst of 30", _LOWEST), ("0.9, mixed sizes", _LOWEST)),
    "ecn": (("1.5", _LOWEST), ("1.5", _HIGHEST), ("0.9, mixed sizes", _LOWEST), ("0.9, mixed sizes", _HIGHEST)),
    "link_monitor": (("1.5", _LOWEST), ("0.5", _LOWEST), ("burst of 30", _LOWEST), ("0.9, mixed sizes", _LOWEST)),
}
"""The loads of the panels of each figure, each at the lowest or the highest of the measured rates."""
_Y_LABELS = {"mri": "waiting packets", "ecn": "share of marked packets", "link_monitor": "utilisation (Mb/s)"}
_SCALES = {"mri": 1.0, "ecn": 1.0, "link_monitor": 1e-6}
_THEORY_LOOK = CurveLook(INK, DASH_CYCLE[2], "P")


def write_figures(records: Sequence[Record], folder: Path) -> list[Path]:
    """Draw a figure for each exercise with records; return the paths."""
    paths = []
    for exercise in _SHOWN:
        if figure := _figure(exercise, [record for record in records if record.exercise == exercise]):
            paths.append(folder / f"queues-{exercise.replace('_', '-')}.png")
            save_figure(draw(figure), paths[-1])
    return paths


def _figure(exercise: str, records: Sequence[Record]) -> Plot | None:
    rates = sorted({record.rate_bps for record in records})
    if not rates:
        return None
    places = dict.fromkeys((load, rates[place]) for load, place in _SHOWN[exercise])
    panels = [
        _panel(exercise, load, rate_bps, shown)
        for load, rate_bps in places
        if (shown := [record for record in records if (record.load, record.rate_bps) == (load, rate_bps)])
    ]
    return plot_panels(panels, columns=min(2, len(panels))) if panels else None


def _panel(exercise: str, load: str, rate_bps: int, records: Sequence[Record]) -> Panel:
    theory = fluid_queue(LOADS[load], rate_bps, BUFFER_PACKETS)
    times_s: Points = np.arange(1.0, int(theory.empty_s / CURVE_STEP_S) + 2) * CURVE_STEP_S
    expected = np.array([_EXPECTED[exercise](theory, time_s, rate_bps) for time_s in times_s - CURVE_STEP_S / 2])
    by_target = {record.target: record for record in records}
    curves = [_from_zero(Curve("theory", _THEORY_LOOK, times_s, expected))]
    for target, look in zip(TARGETS, numbered_looks(len(TARGETS)), strict=True):
        if record := by_target.get(target.name):
            values = np.array(record.curve) * _SCALES[exercise]
            curves.append(_from_zero(Curve(target.label, look, np.array(record.curve_s), values)))
    return Panel(f"load {load}, {rate_bps / 1e6:g} Mb/s", "time (s)", _Y_LABELS[exercise], "steps", curves)


def _from_zero(curve: Curve) -> Curve:
    """Return the curve with the beginning of its first interval as another point."""
    return replace(curve, x=np.concatenate([[0.0], curve.x]), y=np.concatenate([curve.y[:1], curve.y]))


def _expected_mark(theory: FluidQueue, time_s: float, rate_bps: int) -> float:
    return float(theory.depth(time_s) >= ECN_THRESHOLD) if time_s < theory.duration_s else float("nan")


def _expected_mbps(theory: FluidQueue, time_s: float, rate_bps: int) -> float:
    return theory.leaving_pps(time_s) / theory.serving_pps * rate_bps / 1e6


_EXPECTED: Mapping[str, Callable[[FluidQueue, float, int], float]] = {
    "mri": lambda theory, time_s, rate_bps: theory.depth_behind(time_s),
    "ecn": _expected_mark,
    "link_monitor": _expected_mbps,
}
