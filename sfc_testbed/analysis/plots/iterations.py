# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Plots of the iterations of jobs: the time of each one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from sfc_testbed.analysis.metrics.iterations import JobFigures
from sfc_testbed.analysis.plots.description import Axis, Level, Line, Marker, Plot, PlotPanel, highest_fitted
from sfc_testbed.analysis.plots.palette import LineLook, numbered_looks, scheme_looks

_MOST_JOBS = 8
"""The most jobs in a plot."""
_MOST_MARKERS = 60


def plot_iterations(jobs: Sequence[JobFigures]) -> Plot:
    """Plot the iterations of one run: a line for each job."""
    shown = jobs[:_MOST_JOBS]
    named = [(f"job {job.job}", look, job) for job, look in zip(shown, numbered_looks(len(shown)), strict=True)]
    return Plot((_panel("Iterations", named),), height_inches=3.6)


def plot_iterations_compared(runs: Sequence[tuple[str, str, Sequence[JobFigures]]]) -> Plot:
    """Plot the iterations of some runs, each with its label and scheme: a panel for each job, a line for each run."""
    looks = scheme_looks([scheme for _, scheme, _ in runs])
    numbers = sorted({job.job for _, _, jobs in runs for job in jobs})[:_MOST_JOBS]
    panels = [
        _panel(
            f"Iterations of job {number}" if len(numbers) > 1 else "Iterations",
            [
                (label, look, job)
                for (label, _, jobs), look in zip(runs, looks, strict=True)
                for job in jobs
                if job.job == number
            ],
        )
        for number in numbers
    ]
    return Plot(panels, columns=min(2, len(panels)), height_inches=3.6)


def _panel(title: str, named: Iterable[tuple[str, LineLook, JobFigures]]) -> PlotPanel:
    lines, ideals_us, last = [], [], 1
    for label, look, job in named:
        times_us = np.array([np.nan if took_us is None else took_us for took_us in job.took_us])
        numbers = np.arange(1, times_us.size + 1, dtype=np.float64)
        marker = Marker(".", 6) if times_us.size <= _MOST_MARKERS else None
        lines.append(Line(label, look, numbers, times_us, marker=marker))
        ideals_us.append(job.ideal_us)
        last = max(last, times_us.size)
    levels = [Level("ideal", ideal_us) for ideal_us in dict.fromkeys(ideals_us)]
    highest = highest_fitted([*(line.y for line in lines), np.array([0.0, *ideals_us])])
    ticks = [(float(number), str(number)) for number in range(1, last + 1)] if last <= 12 else ()
    return PlotPanel(
        title, Axis("Iteration", 0.5, last + 0.5, ticks=ticks), Axis("Time (model µs)", 0, highest), (*lines, *levels)
    )
