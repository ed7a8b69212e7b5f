# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the layout of the report pages in headless Chromium, with screenshots."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from sfc_testbed.analysis.metrics.goodput import rates_without_gaps, tag_rates
from sfc_testbed.analysis.plots.palette import IN_THE_DARK, scheme_color
from sfc_testbed.analysis.plots.plotted_run import PlottedRun
from sfc_testbed.analysis.plots.run import plot_buffers_compared
from sfc_testbed.analysis.plots.series import hottest_buffer_steps
from sfc_testbed.analysis.report.experiment import ExperimentPage, RunLink, write_experiment_page
from sfc_testbed.analysis.report.html_pages import write_comparison_report, write_run_report
from sfc_testbed.analysis.report.sweep import write_sweep_page
from sfc_testbed.analysis.report.validation import write_validation_page
from sfc_testbed.analysis.results.result import BtsCounts, PfcCounts
from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.analysis.results.swept import TABLE_FILE
from sfc_testbed.analysis.validation.comparison import compare_clocks
from sfc_testbed.analysis.validation.record import Validation
from sfc_testbed.request.spec import P4Program
from sfc_testbed.telemetry.schema import CONGESTION
from sfc_testbed.telemetry.writer import write_trace
from tests.analysis.conftest import FolderMaker, make_flows, make_queues
from tests.analysis.plots.test_congestion import ROWS as TRACED
from tests.analysis.report.browser import Browser
from tests.analysis.report.test_sweep import sweep_folder

WIDE, MIDDLE, NARROW = 1200, 800, 390
_HEIGHT = 7000

# The probe reports sizes after layout, fetched resources and drawn values, which only a browser knows.
_PROBE = """
(() => {
  const all = selector => [...document.querySelectorAll(selector)];
  const box = each => { const {x, y, width, height} = each.getBoundingClientRect(); return {x, y, width, height}; };
  const isWider = each => each.scrollWidth > each.clientWidth;
  const lines = frame => frame.renderers.filter(each => each.glyph?.type === "Line");
  return {
    fetched: performance.getEntriesByType("resource").map(each => each.name),
    pageWidth: document.documentElement.scrollWidth,
    pageHeight: document.documentElement.scrollHeight,
    windowWidth: document.documentElement.clientWidth,
    plots: all(".frame").map(box),
    lines: window.sfcPlots?.frames.map(frame => lines(frame).map(each => ({
      name: each.name, x: [...each.data_source.data.x], y: [...each.data_source.data.y], isShown: each.visible,
    }))),
    overflowing: all(".card, .first, h1, .sentences, dl, figure").filter(isWider)
      .map(each => each.className || each.tagName),
    scrolled: all(".scroll").filter(isWider).map(each => each.closest("section").querySelector("h2").innerText),
    cutCommands: all("pre.command").filter(isWider).length,
    unshaded: all(".scroll, pre").filter(each => !getComputedStyle(each).backgroundAttachment.includes("local")).length,
    cutLabels: all(".panel-title, .legend li").filter(each => {
      const inner = each.getBoundingClientRect(), outer = each.closest("figure").getBoundingClientRect();
      return inner.width && (inner.left < outer.left - 1 || inner.right > outer.right + 1);
    }).map(each => each.textContent),
    headings: all("td[data-says]").map(each => each.dataset.says),
    captions: all("figcaption").map(each => each.innerText),
    holds: all("table.claims tbody td:last-child").map(each => getComputedStyle(each).color),
    smallestText: Math.min(...all("td, th, p, pre, figcaption").filter(each => each.innerText.trim())
      .map(each => parseFloat(getComputedStyle(each).fontSize))),
  };
})()
"""


_TOOLTIP = """
(() => {
  const inside = root => [...root.querySelectorAll("*")].flatMap(each =>
    each.classList.contains("bk-tooltip-content") ? [each.innerText] : each.shadowRoot ? inside(each.shadowRoot) : []);
  return inside(document);
})()
"""


@dataclass(frozen=True)
class RenderedPage:
    """A page after layout: the report of the probe, and the screenshot as rows x columns x RGB from 0 to 1."""

    probe: dict[str, Any]
    picture: NDArray[np.float64]

    def plot(self, number: int) -> NDArray[np.float64]:
        """Return the part of the screenshot with a plot."""
        box = {key: round(value) for key, value in self.probe["plots"][number].items()}
        return self.picture[box["y"] : box["y"] + box["height"], box["x"] : box["x"] + box["width"]]

    def pixels_of(self, color: str, plot: int) -> int:
        return int((np.abs(self.plot(plot) - np.array(to_rgb(color))).max(axis=2) < 0.08).sum())


def lay_out(browser: Browser, page: Path, width: int, *, dark: bool = False) -> dict[str, Any]:
    """Open a page in a window of this width, and return the probe's report and the problems."""
    problems = browser.open(page, width, _HEIGHT, dark=dark)
    probe: dict[str, Any] = browser.evaluate(_PROBE)
    return probe | {"problems": problems}


def render(browser: Browser, page: Path, *, dark: bool = False) -> RenderedPage:
    """Open a page in a wide window and take a screenshot."""
    return RenderedPage(lay_out(browser, page, WIDE, dark=dark), browser.screenshot())


def _run_page(make_run_folder: FolderMaker, tmp_path: Path) -> Path:
    return write_run_report(make_run_folder("sfc"))


def _comparison_page(make_run_folder: FolderMaker, tmp_path: Path) -> Path:
    return write_comparison_report([make_run_folder(name) for name in ("irn", "onramp", "sfc")], tmp_path / "compared")


def _experiment_page(make_run_folder: FolderMaker, tmp_path: Path) -> Path:
    folder = make_run_folder("sfc")
    figure = plot_buffers_compared([PlottedRun("sfc", "sfc", make_flows(), make_queues())])
    page = ExperimentPage(
        name="signaling",
        title="Signaling",
        paper_place="Fig. 1",
        scale="ci",
        claims=[
            ("the cache lowers the queue further", "lower still", "0.27x (1.69 MB against 6.19 MB)", "holds"),
            ("egress BTS peaks where OnRamp settles", "equal", "2x (12 MB against 6 MB)", "fails"),
        ],
        runs=[RunLink("sfc", folder, "./runner.py run signaling --scheme sfc --seed 1", "faithful")],
        remarks=["A remark of some length that has to be broken into lines on a narrow screen, as remarks are."],
        command="./runner.py reproduce signaling --scale ci",
    )
    rows = pl.DataFrame([{"scheme": "sfc", "flows_total": 8, "drops": 0, "pause_us": 120.0, "wall_s": 1.5}])
    return write_experiment_page(tmp_path / "experiment", page, ("Buffer over time.", figure), rows)


def _long_sweep_page(make_run_folder: FolderMaker, tmp_path: Path) -> Path:
    """Write the page of a sweep with three seeds, an axis with a long name, and long names of schemes and folders."""
    folder = sweep_folder(make_run_folder, tmp_path)
    once = pl.read_parquet(folder / TABLE_FILE).with_columns(
        pl.lit("transport.congestion_parameters.target_delay_ns=").alias("axis.transport.a_very_long_parameter_name"),
        scheme=pl.col("scheme") + "+a-congestion-control-with-a-long-name",
    )
    seeds = [
        once.with_columns(
            seed=once["seed"] + seed,
            job=once["job"] + f",{'long-' * 12}{seed}",
            slowdown_p99=once["slowdown_p99"] + seed,
        )
        for seed in range(3)
    ]
    pl.concat(seeds).write_parquet(folder / TABLE_FILE)
    return write_sweep_page(folder)


def _validation_page(make_run_folder: FolderMaker, tmp_path: Path) -> Path:
    virtual, live = load_run(make_run_folder("sfc", config={"clock": "virtual"})), load_run(make_run_folder("sfc"))
    return write_validation_page(live.folder.parent, Validation(runs=(compare_clocks(virtual, live),)))


def _sweep_page(make_run_folder: FolderMaker, tmp_path: Path) -> Path:
    return write_sweep_page(sweep_folder(make_run_folder, tmp_path))


PAGES = {"run": (_run_page, 8, 0), "comparison": (_comparison_page, 9, 0), "experiment": (_experiment_page, 1, 0),
         "sweep": (_sweep_page, 4, 0), "validation": (_validation_page, 1, 0)}  # fmt: skip
"""The function that writes each page, the number of panels, and the panel that must show the colour of sfc."""


def test_long_names_and_many_columns_are_not_cut_off_on_a_phone(
    browser: Browser, make_run_folder: FolderMaker, tmp_path: Path
) -> None:
    probe = lay_out(browser, _long_sweep_page(make_run_folder, tmp_path), NARROW)
    assert probe["pageWidth"] <= NARROW
    assert probe["scrolled"] == probe["cutLabels"] == probe["overflowing"] == []


def test_outcomes_are_not_called_verdicts(browser: Browser, make_run_folder: FolderMaker, tmp_path: Path) -> None:
    """A verdict is of a run, an outcome of a claim. On a phone, the names of columns are beside the cells."""
    probe = lay_out(browser, _experiment_page(make_run_folder, tmp_path), NARROW)
    assert "outcome" in probe["headings"]
    assert "verdict" not in probe["headings"]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_its_plots(name: str, browser: Browser, make_run_folder: FolderMaker, tmp_path: Path) -> None:
    """The page fetches nothing and has no errors. Every plot is wide enough to read, and its curve is visible."""
    make, plots, colored = PAGES[name]
    page = render(browser, make(make_run_folder, tmp_path))
    assert page.probe["problems"] == []
    assert page.probe["fetched"] == []
    assert len(page.probe["plots"]) == plots
    for plot in page.probe["plots"]:
        assert plot["width"] >= 300
        assert plot["height"] >= 150
        assert plot["x"] >= 0
        assert plot["x"] + plot["width"] <= WIDE
    assert page.probe["pageHeight"] <= _HEIGHT, "the screenshot does not reach the end of the page"
    assert page.pixels_of(scheme_color("sfc"), colored) > 200
    assert page.probe["smallestText"] >= 11
    assert page.probe["overflowing"] == []
    assert page.probe["scrolled"] == [], "a table is cut off"


def test_the_browser_draws_the_values_of_the_traces(
    browser: Browser, make_run_folder: FolderMaker, tmp_path: Path
) -> None:
    """The peaks are the exact ones of the trace, and the names of curves stay texts whatever they are."""
    name = "</script><img src=x onerror=problems.push(1)>\"'$x@y"
    folder = make_run_folder("sfc", flows=make_flows().with_columns(tag=pl.lit(name)))
    probe = lay_out(browser, write_run_report(folder), WIDE)
    assert probe["problems"] == []
    run = load_run(folder)
    _, steps = hottest_buffer_steps(run.queues)  # type: ignore[misc]
    [*_, buffer], *_, goodput = probe["lines"]
    scale = 1e6 if steps.values.max() >= 1e6 else 1e3
    corners = np.column_stack([np.repeat(steps.times_us, 2)[:-1], np.repeat(steps.values / scale, 2)[1:]])
    assert np.column_stack([buffer["x"], buffer["y"]]) == pytest.approx(corners, rel=1e-6)
    assert goodput[0]["name"] == name
    begins_us, gbps = rates_without_gaps(tag_rates(run.goodput, run.flows))
    assert set(goodput[0]["x"]) == set(begins_us.astype(np.float32).tolist())
    assert max(goodput[0]["y"]) == pytest.approx(gbps.max(), rel=1e-6)


def test_a_legend_hides_curves_and_a_value_shows_under_the_mouse(
    browser: Browser, make_run_folder: FolderMaker
) -> None:
    """Texts of the value, such as the name of a traffic class, are not HTML."""
    name = "<img src=x onerror=alert(1)> $x @y"
    page = write_run_report(make_run_folder("sfc", flows=make_flows().with_columns(tag=pl.lit(name))))
    probe = lay_out(browser, page, WIDE)
    box = probe["plots"][-1]
    for y in range(40, int(box["height"]), 5):
        browser.page.mouse.move(box["x"] + box["width"] / 3, box["y"] + y)
        browser.evaluate("new Promise(done => setTimeout(done, 50))")
        texts = browser.evaluate(_TOOLTIP)
        if texts:
            break
    assert texts[0].strip().startswith(name)
    assert re.search(r"Time \(model µs\):\s[\d,.]+\s+Goodput \(Gb/s\):\s[\d,.]+", texts[0])
    browser.evaluate("[...document.querySelectorAll('.legend button')].pop().click()")
    hidden = browser.evaluate(_PROBE)["lines"]
    assert [line["isShown"] for line in hidden[-1]] == [False]
    assert all(line["isShown"] for line in hidden[0])
    assert browser.evaluate("document.querySelectorAll('img').length") == 0


_TOOLS = """
sfcPlots.frames.map(frame => ({
  tools: frame.toolbar.tools.map(tool => tool.type),
  withoutValue: frame.renderers.filter(part => ["Line", "Scatter", "Segment"].includes(part.glyph.type))
    .filter(part => !frame.toolbar.tools.some(tool => tool.renderers?.includes?.(part))).length,
  lines: frame.renderers.length,
}))
"""


@pytest.mark.parametrize("name", PAGES)
def test_every_plot_has_zoom_and_values(
    name: str, browser: Browser, make_run_folder: FolderMaker, tmp_path: Path
) -> None:
    """Every curve shows its values under the mouse; markers of a curve need none of their own."""
    make, *_ = PAGES[name]
    lay_out(browser, make(make_run_folder, tmp_path), WIDE)
    for frame in browser.evaluate(_TOOLS):
        assert {"BoxZoomTool", "WheelZoomTool", "PanTool", "ResetTool", "SaveTool"} <= set(frame["tools"])
        assert frame["tools"].count("HoverTool") >= (frame["lines"] - frame["withoutValue"] > 0)
        assert frame["withoutValue"] <= frame["lines"] // 2


def test_one_click_hides_a_scheme_in_all_plots(browser: Browser, make_run_folder: FolderMaker, tmp_path: Path) -> None:
    """Curves with longer labels, such as the buffer of a switch of this scheme, belong to the scheme."""
    lay_out(browser, _comparison_page(make_run_folder, tmp_path), WIDE)
    press = "[...document.querySelectorAll('.filter button')].find(each => each.innerText === 'onramp').click()"
    pressed = """[...document.querySelectorAll("figure .legend button")]
        .map(each => [each.innerText.trim(), each.getAttribute("aria-pressed")])"""
    for state in ("false", "true"):
        browser.evaluate(press)
        for label, shown in browser.evaluate(pressed):
            assert shown == (state if label.startswith("onramp") else "true")


def test_the_overview_of_large_runs_is_not_cut_off_in_a_wide_window(
    browser: Browser, make_run_folder: FolderMaker, tmp_path: Path
) -> None:
    schemes = ("irn", "ingress-bts+dcqcn-no-window", "onramp-straw-man+dcqcn-no-window")
    bts = BtsCounts(sent=9_876_543, suppressed=0, cache_hits=0, max_suppression_entries=0, max_cache_entries=0)
    counters = {"drops": {"buffer_full": 12_345_678}, "bts": bts, "pfc": PfcCounts(sent=1_234_567), "wall_s": 86_400.0}
    config = {"program": P4Program("my.p4", "0" * 64, "my-program")}
    folders = [make_run_folder(scheme, counters=counters, config=config) for scheme in schemes]
    probe = lay_out(browser, write_comparison_report(folders, tmp_path / "compared"), WIDE)
    assert "Overview" not in probe["scrolled"]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_smaller_windows(name: str, browser: Browser, make_run_folder: FolderMaker, tmp_path: Path) -> None:
    """Neither the page nor a table scrolls sideways on a phone. Plots are below each other and legible."""
    make, *_ = PAGES[name]
    page = make(make_run_folder, tmp_path)
    for width in (NARROW, MIDDLE):
        probe = lay_out(browser, page, width)
        assert probe["pageWidth"] <= probe["windowWidth"] == width
        assert probe["overflowing"] == []
        assert probe["cutLabels"] == []
        assert probe["cutCommands"] == probe["unshaded"] == 0
        if width == NARROW:
            assert probe["scrolled"] == [], "a table is cut off"
            is_place = re.compile(r"\b(Left|Right)\b|\b(left|right):")  # not true where panels are stacked
            assert not list(filter(is_place.search, probe["captions"]))
            for above, below in pairwise(probe["plots"]):
                assert below["y"] >= above["y"] + above["height"]


def test_traced_windows_rates_and_round_trips_of_compared_schemes_are_side_by_side(
    browser: Browser, make_run_folder: FolderMaker, tmp_path: Path
) -> None:
    folders = [make_run_folder(name) for name in ("irn", "irn+hpcc", "sfc")]
    for folder in folders:
        write_trace(folder / CONGESTION.file_name, CONGESTION, TRACED)
    probe = lay_out(browser, write_comparison_report(folders, tmp_path / "compared"), WIDE)
    traced = probe["plots"][-9:]
    for row in (traced[:3], traced[3:6], traced[6:]):
        assert len({plot["y"] for plot in row}) == 1
        assert all(left["x"] + left["width"] <= right["x"] for left, right in pairwise(row))
    assert probe["overflowing"] == []


def test_a_dark_page_has_no_bright_areas(browser: Browser, make_run_folder: FolderMaker, tmp_path: Path) -> None:
    page = render(browser, _comparison_page(make_run_folder, tmp_path), dark=True)
    assert (page.picture.mean(axis=2) > 0.9).mean() < 0.02
    assert page.pixels_of(IN_THE_DARK[scheme_color("sfc")], 0) > 200
    letters = (page.plot(0).mean(axis=2) > 0.75).mean()
    assert 0.002 < letters < 0.1


def test_a_claim_that_does_not_hold_stands_out(browser: Browser, make_run_folder: FolderMaker, tmp_path: Path) -> None:
    probe = lay_out(browser, _experiment_page(make_run_folder, tmp_path), WIDE)
    holds, fails = probe["holds"]
    assert holds != fails
