# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the plots of runs: their points, axes, units and labels, and PNG files."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from sfc_testbed.analysis.plots import run as plots
from sfc_testbed.analysis.plots.canvas import WIDTH_PIXELS, draw, lay_out, log_x, log_y, new_figure, save_figure
from sfc_testbed.analysis.plots.goodput import plot_goodput
from sfc_testbed.analysis.plots.palette import SCHEME_COLORS
from sfc_testbed.analysis.plots.plotted_run import PlottedRun
from sfc_testbed.analysis.plots.series import Steps, cumulative_slowdown, thin
from sfc_testbed.analysis.plots.svg import to_svg
from sfc_testbed.request.spec import FaultSpan
from sfc_testbed.telemetry.schema import FLOWS, QUEUES
from tests.analysis.conftest import make_flows, make_goodput, make_queues
from tests.analysis.plots.looks import MANY_SCHEMES, assert_curves_differ


@given(st.lists(st.floats(0, 1e9), max_size=200), st.integers(1, 50))
def test_thinning_keeps_peak_span_and_order(values: list[float], limit: int) -> None:
    steps = Steps(np.arange(1.0, len(values) + 1.0), np.array(values, dtype=np.float64))
    thinned = thin(steps, limit)
    assert thinned.values.size == thinned.times_us.size == min(len(values), limit)
    assert list(thinned.times_us) == sorted(thinned.times_us)
    if values:
        assert thinned.values.max() == max(values)
        assert thinned.times_us[-1] == len(values)


def test_the_distribution_ends_at_the_completed_share() -> None:
    flows = make_flows()
    share = flows["finish_us"].is_not_null().mean()
    for limit in (50, 10_000):
        values, shares = cumulative_slowdown(flows, limit)
        assert len(values) == len(shares) <= max(limit, 2256)
        assert shares[-1] == pytest.approx(share)
        assert (np.diff(values) >= 0).all()
        assert (np.diff(shares) > 0).all()
    assert cumulative_slowdown(FLOWS.empty())[0].size == 0


def test_buffer_plot_has_units_and_thresholds() -> None:
    figure = draw(plots.plot_buffer(make_queues(), scheme="sfc", thresholds_bytes={"Q_th": 250_000}))
    left, right = figure.axes
    assert left.get_xlabel() == "Time (model µs)"
    assert left.get_ylabel() == "High-water mark (MB)"
    assert (left.get_title(loc="left"), right.get_title(loc="left")) == (
        "Shared buffer of tor2",
        "Longest queue: tor2 port 9 class 3",
    )
    assert SCHEME_COLORS["sfc"] in {line.get_color() for line in left.lines}
    assert [text.get_text() for text in right.texts] == ["Q_th"]


@pytest.mark.parametrize(("peak_bytes", "names"), [(400_000, ["Q_th", "Q_tg"]), (4_000_000, ["Q_th, Q_tg", ""])])
def test_names_of_levels_do_not_overlap(peak_bytes: int, names: list[str]) -> None:
    levels = {"Q_tg": 125_000, "Q_th": 250_000}
    figure = draw(plots.plot_buffer(make_queues(peak_bytes=peak_bytes), scheme="sfc", thresholds_bytes=levels))
    assert [text.get_text() for text in figure.axes[1].texts] == names
    draw(plots.plot_buffer(make_queues(peak_bytes=0), scheme="sfc", thresholds_bytes={"Q_th": 0, "Q_tg": -1}))


def test_fct_plot_shows_each_percentile_and_class() -> None:
    figure = draw(plots.plot_fct(make_flows(), scheme="sfc", traffic_class="hadoop"))
    left, right = figure.axes
    assert left.get_legend_handles_labels()[1] == ["P50", "P95", "P99"]
    assert right.get_legend_handles_labels()[1] == ["hadoop", "incast"]
    assert (left.get_ylabel(), right.get_xlabel()) == ("FCT slowdown", "FCT slowdown")


def test_a_percentile_without_samples_is_not_drawn() -> None:
    """50 flows per bin are enough for a P95 but not for a P99."""
    figure = draw(plots.plot_fct(make_flows(count=500, incast=0), scheme="sfc", traffic_class="hadoop"))
    assert figure.axes[0].get_legend_handles_labels()[1] == ["P50", "P95"]


def test_plots_of_empty_traces_show_a_text() -> None:
    empty_run = PlottedRun("sfc", "sfc", FLOWS.empty())
    texts = [
        text.get_text()
        for figure in (
            draw(plots.plot_buffer(QUEUES.empty(), scheme="sfc")),
            draw(plots.plot_fct(FLOWS.empty(), scheme="sfc")),
            draw(plots.plot_buffers_compared([empty_run])),
            draw(plots.plot_fct_by_size_compared([empty_run])),
            draw(plots.plot_fct_compared([empty_run], [])),
        )
        for axes in figure.axes
        for text in axes.texts
    ]
    assert texts == [
        "nothing was queued",
        "nothing was queued",
        "no size bin has enough flows",
        "no flow completed",
        "nothing was queued",
        "P95 needs 20 flows per size bin",
        "P99 needs 100 flows per size bin",
        "no flow completed",
    ]


def test_comparisons_keep_the_colour_of_each_scheme() -> None:
    runs = [PlottedRun(name, name, make_flows(), make_queues()) for name in ("irn", "sfc")]
    for figure in (
        draw(plots.plot_buffers_compared(runs)),
        draw(plots.plot_fct_by_size_compared(runs, "hadoop")),
        draw(plots.plot_fct_compared(runs, ["hadoop", "incast"])),
    ):
        (legend,) = figure.legends
        assert [text.get_text().split()[0] for text in legend.get_texts()] == ["irn", "sfc"]
        for axes in figure.axes:
            assert [line.get_color() for line in axes.lines] == [SCHEME_COLORS["irn"], SCHEME_COLORS["sfc"]]


@pytest.mark.parametrize("schemes", MANY_SCHEMES, ids=",".join)
def test_curves_of_a_comparison_can_be_told_apart(schemes: tuple[str, ...]) -> None:
    flows, queues = make_flows(), make_queues()
    runs = [PlottedRun(f"{scheme} #{number}", scheme, flows, queues) for number, scheme in enumerate(schemes)]
    assert_curves_differ(draw(plots.plot_buffers_compared(runs)))
    assert_curves_differ(draw(plots.plot_beside_incast(runs, "hadoop")))
    assert_curves_differ(draw(plots.plot_fct_by_size_compared(runs, "hadoop")))
    assert_curves_differ(draw(plots.plot_fct_compared(runs, ["hadoop", "incast"])))


def test_curves_of_many_traffic_classes_can_be_told_apart() -> None:
    flows = make_flows().with_columns(tag=pl.format("class {}", pl.col("flow_id") % 12))
    assert_curves_differ(draw(plots.plot_fct(flows, scheme="sfc")))


@pytest.mark.parametrize("words", [1, 8, 30])
def test_legends_and_titles_are_inside_the_picture(words: int) -> None:
    """Long names get fewer columns in the legend and more lines in a title; a legend covers no curve."""
    tags = [f"phase-{number}-of-{'-'.join(['collective'] * min(words, 3))}" for number in range(words)]
    flows = pl.concat([make_flows(count=30, incast=0).with_columns(tag=pl.lit(tag)) for tag in tags])
    runs = [PlottedRun(tag, "irn", flows, make_queues()) for tag in tags[:9]]
    for figure in (
        draw(plots.plot_fct(flows, scheme="sfc", traffic_class=tags[0])),
        draw(plots.plot_buffers_compared(runs)),
        draw(plots.plot_fct_compared(runs, tags)),
    ):
        lay_out(figure, FigureCanvasAgg, 100)
        assert not any(axes.get_legend() for axes in figure.axes)
        texts = [
            text for axes in figure.axes for text in axes.findobj(Text) if text.get_text() == axes.get_title("left")
        ]
        boxes = [artist.get_window_extent() for artist in (*figure.legends, *texts)]
        assert all(box.x0 >= -1 and box.x1 <= figure.bbox.x1 + 1 for box in boxes)
        assert all(box.y0 >= -1 and box.y1 <= figure.bbox.y1 + 1 for box in boxes)


def test_a_traffic_class_whose_name_begins_with_an_underscore_is_in_the_legend() -> None:
    flows = make_flows().with_columns(tag=pl.lit("_mine"))
    [legend] = draw(plots.plot_fct(flows, scheme="sfc")).legends
    assert [text.get_text().strip() for text in legend.get_texts()] == ["P50", "P95", "P99", "_mine"]
    [goodput] = draw(plot_goodput([PlottedRun("", "sfc", flows, goodput=make_goodput(flows))])).legends
    assert [text.get_text().strip() for text in goodput.get_texts()] == ["_mine"]


def test_compared_percentiles_share_one_scale() -> None:
    runs = [PlottedRun("irn", "irn", make_flows(load=3), make_queues())]
    p95, p99 = draw(plots.plot_fct_by_size_compared(runs, "hadoop")).axes
    assert p95.get_ylim() == p99.get_ylim()


def test_the_plot_beside_an_incast_includes_the_lowest_slowdown() -> None:
    flows, queues = make_flows(), make_queues()
    faster = flows.with_columns(slowdown=pl.col("slowdown") / 4)
    runs = [PlottedRun("irn", "irn", flows, queues), PlottedRun("sfc", "sfc", faster, queues)]
    left, _ = draw(plots.plot_beside_incast(runs, "hadoop")).axes
    assert left.get_xlim()[0] <= faster["slowdown"].drop_nulls().to_numpy().min()


def test_a_logarithmic_axis_has_only_visible_ticks() -> None:
    _, (axes,) = new_figure()
    log_x(axes, 1.0, 10.0)
    log_y(axes, 0.97, 250.0)
    assert axes.get_xticks().tolist() == [1, 1.5, 2, 3, 4, 5, 7, 10]
    assert axes.get_yticks().tolist() == [1, 2, 5, 10, 20, 50, 100, 200]


def test_a_png_is_1280_pixels_wide(tmp_path: Path) -> None:
    """No temporary file remains."""
    save_figure(draw(plots.plot_buffer(make_queues(), scheme="sfc")), tmp_path / "buffer.png")
    header = (tmp_path / "buffer.png").read_bytes()[:24]
    assert header[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(header[16:20], "big") == WIDTH_PIXELS
    assert [path.name for path in tmp_path.iterdir()] == ["buffer.png"]


def test_plots_leave_global_settings_alone() -> None:
    """A notebook that imports this package keeps its own style."""
    before = dict(mpl.rcParams)
    draw(plots.plot_fct(make_flows(count=50), scheme="sfc"))
    assert dict(mpl.rcParams) == before


def test_plots_do_not_depend_on_global_settings() -> None:
    """A notebook's style, or a matplotlibrc in the working directory, changes no report."""
    flows = make_flows(count=50)
    expected = to_svg(draw(plots.plot_fct(flows, scheme="sfc")), name="plot", description="")
    with mpl.rc_context({"text.usetex": True, "axes.grid.axis": "x", "axes.linewidth": 9, "savefig.bbox": "tight"}):
        assert to_svg(draw(plots.plot_fct(flows, scheme="sfc")), name="plot", description="") == expected


def test_faults_are_shaded_from_begin_to_end() -> None:
    queues = make_queues()
    bare = draw(plots.plot_buffer(queues, scheme="sfc")).axes[0]
    left, right = bare.get_xlim()
    faults = [
        FaultSpan(spec="", label=label, begin_us=begin_us, end_us=end_us)
        for label, begin_us, end_us in (
            ("tor1-spine1 down", right / 4, right / 2),
            ("h1-tor1 down", right / 2, None),
            ("after the run", 2 * right, None),
        )
    ]
    for axes in draw(plots.plot_buffer(queues, scheme="sfc", faults=faults)).axes:
        shades = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
        assert [(shade.get_x(), shade.get_x() + shade.get_width()) for shade in shades] == [
            pytest.approx((right / 4, right / 2)),
            pytest.approx((right / 2, right)),
        ]
        names = [text.get_text() for text in axes.texts]
        assert [name for name in names if name.endswith("down")] == ["tor1-spine1 down", "h1-tor1 down"]
        assert "after the run" not in names
        assert axes.get_xlim() == (left, right)


def test_goodput_curves_of_many_traffic_classes_can_be_told_apart() -> None:
    flows = make_flows(count=200, incast=0).with_columns(tag=pl.format("class {}", pl.col("flow_id") % 12))
    figure = draw(plot_goodput([PlottedRun("sfc", "sfc", flows, goodput=make_goodput(flows))]))
    assert_curves_differ(figure)
    assert len(figure.axes[0].get_lines()) == 12
