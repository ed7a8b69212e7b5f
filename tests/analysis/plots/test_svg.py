# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for figures in a page: their panels, colours and font, their size, and reproducibility."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_rgb

from sfc_testbed.analysis.plots import run as plots
from sfc_testbed.analysis.plots.canvas import draw
from sfc_testbed.analysis.plots.palette import BACKDROP, IN_THE_DARK, OTHER_COLORS, SCHEME_COLORS, color_variables
from sfc_testbed.analysis.plots.plotted_run import PlottedRun
from sfc_testbed.analysis.plots.svg import to_svg
from sfc_testbed.telemetry.schema import QUEUES, WHOLE_BUFFER
from tests.analysis.conftest import make_flows, make_queues

STYLE_SHEET = Path(plots.__file__).parents[1] / "report" / "templates" / "style.css"
GRAPHICS_CONTRAST = 3.0
"""The minimum contrast of graphics (WCAG 2.1, success criterion 1.4.11)."""


def test_an_svg_is_embeddable_and_reproducible() -> None:
    """The SVG has no external address, unique ids with the figure's name, and a description for screen readers."""

    def drawn() -> str:
        figure = draw(plots.plot_fct(make_flows(), scheme="sfc", traffic_class="hadoop"))
        return to_svg(figure, name="fct", description='P99 < "10" & more')

    svg = drawn()
    assert svg == drawn()
    assert 'role="img" aria-label="P99 &lt; &quot;10&quot; &amp; more"' in svg
    assert "://" not in svg
    ids = re.findall(r'\bid="([^"]+)"', svg)
    assert all(name.startswith("fct-") for name in ids)
    assert len(ids) == len(set(ids))
    used = set(re.findall(r"url\(#([^)]+)\)", svg)) | set(re.findall(r'href="#([^"]+)"', svg))
    assert used and used <= set(ids)


def test_a_dollar_sign_in_a_name_is_not_math() -> None:
    flows = make_flows().with_columns(tag=pl.lit(r"$\x$"))
    assert r"$\x$" in to_svg(
        draw(plots.plot_fct(flows, scheme="sfc", traffic_class=r"$\x$")), name="f", description="f"
    )


def test_an_svg_is_well_formed() -> None:
    runs = [PlottedRun(name, name, make_flows(), make_queues()) for name in ("irn", "sfc")]
    svg = to_svg(draw(plots.plot_buffers_compared(runs)), name="b", description="b")
    ElementTree.fromstring(f'<div xmlns:xlink="xlink">{svg}</div>')


def test_each_panel_is_an_svg_and_the_figure_does_not_change() -> None:
    figure = draw(plots.plot_buffer(make_queues(), scheme="sfc"))
    sizes = figure.get_size_inches().tolist()
    left, right, *keys = to_svg(figure, name="b", description="b").split("<svg ")[1:]
    assert [re.findall(r"</svg>\s*([^<]+)</li>", key) for key in keys] == [["tor2"], ["other switches"]]
    assert ("Shared buffer of tor2" in left, "Longest queue" in left) == (True, False)
    assert ("Shared buffer of tor2" in right, "Longest queue" in right) == (False, True)
    assert figure.get_size_inches().tolist() == sizes
    assert all(axes.get_visible() and axes.get_in_layout() for axes in figure.axes)
    assert [axes.get_subplotspec().colspan.start for axes in figure.axes] == [0, 1]  # type: ignore[union-attr]
    runs = [PlottedRun(name, name, make_flows(), make_queues()) for name in ("irn", "sfc")]
    figure = draw(plots.plot_buffers_compared(runs))
    html = to_svg(figure, name="c", description="c")
    assert re.findall(r'<svg class="(\w+)"', html) == ["wide", "narrow", "key", "key"]
    assert re.findall(r"</svg>\s*([^<]+)</li>", html) == ["irn (tor2)", "sfc (tor2)"]
    assert len(figure.legends) == 1


def test_colours_and_font_follow_the_page() -> None:
    svg = to_svg(draw(plots.plot_fct(make_flows(), scheme="sfc", traffic_class="hadoop")), name="f", description="f")
    assert "var(--plot-0072b2, #0072b2)" in svg
    assert "fill: currentColor" in svg
    assert "font-family" not in svg
    assert not set(re.findall(r"(?<!, )#[0-9a-f]{6}\b", svg))
    assert "--plot-0072b2: " in color_variables()


def test_every_colour_has_a_replacement_on_dark_pages() -> None:
    assert set(IN_THE_DARK) == {*SCHEME_COLORS.values(), *OTHER_COLORS, BACKDROP}
    assert len(set(IN_THE_DARK.values())) == len(IN_THE_DARK)
    panel = re.findall(r"--panel: (#\w{6})", STYLE_SHEET.read_text())[1]
    for light, dark in IN_THE_DARK.items():
        assert light == BACKDROP or _contrast(dark, panel) >= GRAPHICS_CONTRAST, dark


def _contrast(one: str, other: str) -> float:
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(color: str) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(color)]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


@pytest.mark.parametrize("samples", [2_000, 50_000])
def test_a_plot_of_many_samples_stays_small(samples: int) -> None:
    random = np.random.default_rng(1)
    times = np.arange(1.0, samples + 1)
    frames = [
        pl.DataFrame(
            {"time_us": times, "switch": name, "port": WHOLE_BUFFER, "class": WHOLE_BUFFER, "depth_bytes": 0,
             "high_water_bytes": random.integers(1, 1_000_000, samples)}
        ).cast(pl.Schema(QUEUES.dtypes))
        for name in (f"tor{number}" for number in range(1, 10))
    ]  # fmt: skip
    svg = to_svg(draw(plots.plot_buffer(pl.concat(frames), scheme="sfc")), name="b", description="b")
    assert len(svg) < 150_000
