# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for figures with panels: letters, common scales, the legend, and curves that differ without colour."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.analysis.plots.canvas import draw
from sfc_testbed.analysis.plots.palette import LineLook
from sfc_testbed.analysis.plots.panels import (
    Curve,
    CurveLook,
    Panel,
    numbered_looks,
    plot_panels,
    scheme_looks,
    with_hollow_markers,
)
from tests.analysis.plots.looks import SCHEME_TEXTS, assert_distinguishable

LOOK = CurveLook("#332288")


def _panel(title: str, *values: float, y_label: str = "Peak (MB)") -> Panel:
    x = np.arange(float(len(values)))
    return Panel(title, "Degree", y_label, "points", [Curve("SFC", LOOK, x, np.array(values))])


@given(st.lists(SCHEME_TEXTS, unique=True, max_size=12))
def test_curves_of_any_twelve_schemes_can_be_told_apart(schemes: list[str]) -> None:
    looks = scheme_looks(schemes)
    assert_distinguishable([LineLook(look.color, look.dashes) for look in looks])
    assert len({(look.marker, look.is_filled) for look in looks}) == len(schemes)


@given(st.lists(SCHEME_TEXTS, unique=True, max_size=6))
def test_two_percentiles_of_any_six_schemes_can_be_told_apart(schemes: list[str]) -> None:
    looks = scheme_looks(schemes)
    both = [*looks, *with_hollow_markers(looks)]
    assert_distinguishable([LineLook(look.color, look.dashes) for look in both])


def test_a_scheme_of_the_papers_figures_has_one_look_in_all_of_them() -> None:
    alone = {name: scheme_looks([f"{name}+hpcc"])[0] for name in ("irn", "onramp", "sfc", "sfc-est")}
    together = scheme_looks([f"{name}+hpcc" for name in alone])
    assert together == list(alone.values())


def test_numbered_curves_differ_without_their_colours() -> None:
    looks = numbered_looks(5)
    assert len({look.dashes for look in looks}) == len({look.marker for look in looks}) == 5


def test_panels_have_letters_and_a_common_scale_per_quantity() -> None:
    """A single panel has no letter."""
    figure = draw(
        plot_panels([_panel("ours", 1, 2), _panel("theirs", 1, 9), _panel("delay", 1, 100, y_label="Delay (us)")])
    )
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["(a) ours", "(b) theirs", "(c) delay"]
    ours, theirs, delay = (axes.get_ylim() for axes in figure.axes)
    assert ours == theirs != delay
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["SFC"]
    [alone] = draw(plot_panels([_panel("alone", 1)])).axes
    assert alone.get_title(loc="left") == "alone"


def test_a_level_is_inside_the_panel_and_in_the_legend() -> None:
    panel = _panel("drops", 1, 2)
    high = Panel(panel.title, panel.x_label, panel.y_label, panel.kind, panel.curves, level=("drops begin", 16.0))
    figure = draw(plot_panels([high, high]))
    assert all(axes.get_ylim()[1] > 16 and not axes.texts for axes in figure.axes)
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["SFC", "drops begin"]


def test_coinciding_curves_are_all_visible() -> None:
    x, y = np.arange(3.0), np.ones(3)
    looks = (CurveLook("#444444", marker="o"), CurveLook("#E69F00", marker="s"), CurveLook("#0072B2", marker="^"))
    panel = Panel("peaks", "Degree", "MB", "points", [Curve(look.marker, look, x, y) for look in looks])
    [axes] = draw(plot_panels([panel])).axes
    sizes = [line.get_markersize() for line in axes.lines]
    assert sizes == sorted(set(sizes), reverse=True)
    assert {line.get_markeredgecolor() for line in axes.lines} == {"#FFFFFF"}


def test_panels_with_common_time_have_one_time_axis() -> None:
    short, long, other = (
        Panel(title, "Time (ms)", "Gb/s", "steps", [Curve("SFC", LOOK, np.array([1.0, end]), np.ones(2))])
        for title, end in (("with", 12.0), ("without", 20.0), ("beside", 7.0))
    )
    common = [replace(panel, has_common_time=True) for panel in (short, long)]
    assert [axes.get_xlim()[1] for axes in draw(plot_panels([*common, other])).axes] == [20.0, 20.0, 7.0]


def test_a_cdf_begins_at_the_lowest_value_and_ends_at_one() -> None:
    values = np.sort(np.random.default_rng(1).exponential(size=9_000))
    panel = Panel("receivers", "Gb/s", "Share", "shares", [Curve("SFC", LOOK, values)])
    [line] = draw(plot_panels([panel])).axes[0].lines
    x, y = (np.asarray(line.get_data()[axis]) for axis in (0, 1))
    assert (x[0], y[0]) == (values[0], 0.0)
    assert (x[-1], y[-1]) == (values[-1], 1.0)
    assert x.size < values.size


def test_a_panel_without_points_shows_a_text() -> None:
    panel = Panel(
        "peak", "Degree", "MB", "points", [Curve("SFC", LOOK, np.arange(2.0), np.full(2, np.nan))], (), empty="no"
    )
    [axes] = draw(plot_panels([panel])).axes
    assert [text.get_text() for text in axes.texts] == ["no"]
