# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Marks faults on a time axis: a shaded area from begin to end, with the fault's name at the top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from analysis.plots.canvas import MUTED
from analysis.plots.palette import DASH_CYCLE

_SHADE = 0.12


@dataclass(frozen=True)
class FaultMark:
    """The name and the times of a fault, in model units. None: the fault lasts to the end of the run."""

    label: str
    begin_us: float
    end_us: float | None


def draw_faults(axes: Axes, marks: Sequence[FaultMark]) -> None:
    """Shade the faults without changing the time axis. Faults that begin after its end are left out."""
    left, right = axes.get_xlim()
    for mark in marks:
        end_us = right if mark.end_us is None else min(mark.end_us, right)
        if mark.begin_us >= right:
            continue
        axes.axvspan(mark.begin_us, end_us, color=MUTED, alpha=_SHADE, linewidth=0)
        axes.axvline(mark.begin_us, color=MUTED, linewidth=1.0, linestyle=DASH_CYCLE[2])
        axes.annotate(
            mark.label,
            (mark.begin_us, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(3, -4),
            textcoords="offset points",
            va="top",
            ha="right",
            rotation=90,
            rotation_mode="anchor",
            color=MUTED,
            fontsize=9,
        )
    axes.set_xlim(left, right)
