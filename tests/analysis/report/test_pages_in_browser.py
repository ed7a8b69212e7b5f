# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the layout of the report pages in headless Chromium, with screenshots."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from html import escape, unescape
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.image import imread
from numpy.typing import NDArray

from sfc_testbed.analysis.plots.palette import IN_THE_DARK, scheme_color
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
from tests.analysis.conftest import FolderMaker
from tests.analysis.plots.test_congestion import ROWS as TRACED
from tests.analysis.report.test_sweep import sweep_folder


def _runs(program: str) -> bool:
    """Return whether a browser starts. Ubuntu's command may only ask to install a snap."""
    return subprocess.run([program, "--version"], capture_output=True, check=False).returncode == 0


CHROMIUM = next(
    (
        path
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name)) is not None and _runs(path)
    ),
    "",
)
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no working Chromium on the PATH")

WIDE, MIDDLE, NARROW = 1200, 800, 390
_HEIGHT = 6000
_DARK = "--blink-settings=preferredColorScheme=0"
_LEAST_PIXELS = 8.5
"""The smallest font size of texts in plots."""

# The probe reports sizes after layout, fetched resources and errors, which only a browser knows.
_PROBE = """
<script>
const problems = [];
addEventListener("error", event => problems.push(String(event.message || event.target)), true);
addEventListener("load", () => {
  const box = each => { const {x, y, width, height} = each.getBoundingClientRect(); return {x, y, width, height}; };
  const found = {
    problems,
    fetched: performance.getEntriesByType("resource").map(each => each.name),
    pageWidth: document.documentElement.scrollWidth,
    pageHeight: document.documentElement.scrollHeight,
    windowWidth: document.documentElement.clientWidth,
    plots: [...document.querySelectorAll(".panels svg")].map(box).filter(each => each.width),
    overflowing: [...document.querySelectorAll(".card, .first, h1, .sentences, dl, figure")]
      .filter(each => each.scrollWidth > each.clientWidth).map(each => each.className || each.tagName),
    scrolled: [...document.querySelectorAll(".scroll")].filter(each => each.scrollWidth > each.clientWidth)
      .map(each => each.closest("section").querySelector("h2").innerText),
    cutCommands: [...document.querySelectorAll("pre.command")]
      .filter(each => each.scrollWidth > each.clientWidth).length,
    unshaded: [...document.querySelectorAll(".scroll, pre")]
      .filter(each => !getComputedStyle(each).backgroundAttachment.includes("local")).length,
    cutLabels: [...document.querySelectorAll(".panels svg text, .legend li")].filter(each => {
      const inner = each.getBoundingClientRect();
      const outer = (each.ownerSVGElement || each.closest("figure")).getBoundingClientRect();
      return inner.width && (inner.left < outer.left - 1 || inner.right > outer.right + 1);
    }).map(each => each.textContent),
    headings: [...document.querySelectorAll("td[data-says]")].map(each => each.dataset.says),
    captions: [...document.querySelectorAll("figcaption")].map(each => each.innerText),
    smallestInPlots: Math.min(...[...document.querySelectorAll(".panels svg text")]
      .filter(each => each.getBoundingClientRect().width)
      .map(each => parseFloat(getComputedStyle(each).fontSize) * each.ownerSVGElement.getScreenCTM().a)),
    holds: [...document.querySelectorAll("table.claims tbody td:last-child")].map(each => getComputedStyle(each).color),
    smallestText: Math.min(...[...document.querySelectorAll("td, th, p, pre, figcaption")]
      .filter(each => each.innerText.trim()).map(each => parseFloat(getComputedStyle(each).fontSize))),
  };
  const place = parent.document.createElement("script");
  place.type = "application/json";
  place.className = "probe";
  place.textContent = JSON.stringify(found);
  parent.document.body.append(place);
});
</script>
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


def lay_out(page: Path, folder: Path, *widths: int) -> list[dict[str, Any]]:
    """Open a page in frames of these widths, and return the probe's report of each. Windows cannot be so narrow."""
    text = escape(_probed(page))
    frames = (f'<iframe style="width:{width}px;height:{_HEIGHT}px" srcdoc="{text}"></iframe>' for width in widths)
    framed = _alone(folder, f"<!DOCTYPE html><body>{''.join(frames)}</body>")
    probes = _probes(_chromium(framed, "--dump-dom"))
    return sorted(probes, key=lambda probe: widths.index(probe["windowWidth"]))


def render(page: Path, folder: Path, *options: str) -> RenderedPage:
    """Open a page in a wide window and take a screenshot."""
    alone = _alone(folder, _probed(page))
    [probe] = _probes(_chromium(alone, "--dump-dom", *options))
    _chromium(alone, f"--screenshot={alone.parent / 'screenshot.png'}", *options)
    return RenderedPage(probe, imread(alone.parent / "screenshot.png")[:, :, :3].astype(np.float64))


def _probed(page: Path) -> str:
    return page.read_text(encoding="utf-8").replace("<head>", f"<head>{_PROBE}", 1)


def _alone(folder: Path, text: str) -> Path:
    """Write a page into a new folder and return its path."""
    path = folder / "alone" / "report.html"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    return path


def _probes(document: str) -> list[dict[str, Any]]:
    probes = re.findall(r'<script type="application/json" class="probe">(.*?)</script>', document, re.DOTALL)
    assert probes, document[-2000:]
    return [json.loads(unescape(probe)) for probe in probes]


def _chromium(page: Path, *actions: str) -> str:
    command = [
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        "--proxy-server=127.0.0.1:9",
        f"--user-data-dir={page.parent / 'profile'}",
        f"--window-size={WIDE},{_HEIGHT}",
        *actions,
        page.as_uri(),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env={**os.environ, "HOME": str(page.parent)}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _run_page(make_run_folder: FolderMaker, tmp_path: Path) -> Path:
    return write_run_report(make_run_folder("sfc"))


def _comparison_page(make_run_folder: FolderMaker, tmp_path: Path) -> Path:
    return write_comparison_report([make_run_folder(name) for name in ("irn", "onramp", "sfc")], tmp_path / "compared")


def _experiment_page(make_run_folder: FolderMaker, tmp_path: Path) -> Path:
    folder = make_run_folder("sfc")
    figure = Figure(figsize=(6, 3))
    figure.subplots().plot([0, 1, 2], [1, 3, 2], color=scheme_color("sfc"), linewidth=3)
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
    folder = sweep_folder(make_run_folder, tmp_path / "sweep")
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
    return write_sweep_page(sweep_folder(make_run_folder, tmp_path / "sweep"))


PAGES = {"run": (_run_page, 8, 0), "comparison": (_comparison_page, 9, 0), "experiment": (_experiment_page, 1, 0),
         "sweep": (_sweep_page, 4, 0), "validation": (_validation_page, 1, 0)}  # fmt: skip
"""The function that writes each page, the number of panels, and the panel that must show the colour of sfc."""


def test_long_names_and_many_columns_are_not_cut_off_on_a_phone(make_run_folder: FolderMaker, tmp_path: Path) -> None:
    [probe] = lay_out(_long_sweep_page(make_run_folder, tmp_path), tmp_path, NARROW)
    assert probe["pageWidth"] <= NARROW
    assert probe["scrolled"] == probe["cutLabels"] == probe["overflowing"] == []


def test_outcomes_are_not_called_verdicts(make_run_folder: FolderMaker, tmp_path: Path) -> None:
    """A verdict is of a run, an outcome of a claim. On a phone, the names of columns are beside the cells."""
    [probe] = lay_out(_experiment_page(make_run_folder, tmp_path), tmp_path, NARROW)
    assert "outcome" in probe["headings"]
    assert "verdict" not in probe["headings"]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_its_plots(name: str, make_run_folder: FolderMaker, tmp_path: Path) -> None:
    """The page fetches nothing and has no errors. Every plot is wide enough to read, and its curve is visible."""
    make, plots, colored = PAGES[name]
    page = render(make(make_run_folder, tmp_path), tmp_path)
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
    assert page.probe["smallestInPlots"] >= _LEAST_PIXELS


def test_the_overview_of_large_runs_is_not_cut_off_in_a_wide_window(
    make_run_folder: FolderMaker, tmp_path: Path
) -> None:
    schemes = ("irn", "ingress-bts+dcqcn-no-window", "onramp-straw-man+dcqcn-no-window")
    bts = BtsCounts(sent=9_876_543, suppressed=0, cache_hits=0, max_suppression_entries=0, max_cache_entries=0)
    counters = {"drops": {"buffer_full": 12_345_678}, "bts": bts, "pfc": PfcCounts(sent=1_234_567), "wall_s": 86_400.0}
    config = {"program": P4Program("my.p4", "0" * 64, "my-program")}
    folders = [make_run_folder(scheme, counters=counters, config=config) for scheme in schemes]
    [probe] = lay_out(write_comparison_report(folders, tmp_path / "compared"), tmp_path, WIDE)
    assert "Overview" not in probe["scrolled"]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_smaller_windows(name: str, make_run_folder: FolderMaker, tmp_path: Path) -> None:
    """Neither the page nor a table scrolls sideways on a phone. Plots are below each other and legible."""
    make, *_ = PAGES[name]
    for width, probe in zip(
        (NARROW, MIDDLE), lay_out(make(make_run_folder, tmp_path), tmp_path, NARROW, MIDDLE), strict=True
    ):
        assert probe["pageWidth"] <= probe["windowWidth"] == width
        assert probe["overflowing"] == []
        assert probe["smallestInPlots"] >= _LEAST_PIXELS
        assert probe["cutLabels"] == []
        assert probe["cutCommands"] == probe["unshaded"] == 0
        if width == NARROW:
            assert probe["scrolled"] == [], "a table is cut off"
            is_place = re.compile(r"\b(Left|Right)\b|\b(left|right):")  # not true where panels are stacked
            assert not list(filter(is_place.search, probe["captions"]))
            for above, below in pairwise(probe["plots"]):
                assert below["y"] >= above["y"] + above["height"]


def test_traced_windows_rates_and_round_trips_of_compared_schemes_are_side_by_side(
    make_run_folder: FolderMaker, tmp_path: Path
) -> None:
    folders = [make_run_folder(name) for name in ("irn", "irn+hpcc", "sfc")]
    for folder in folders:
        write_trace(folder / CONGESTION.file_name, CONGESTION, TRACED)
    [probe] = lay_out(write_comparison_report(folders, tmp_path / "compared"), tmp_path, WIDE)
    traced = probe["plots"][-9:]
    for row in (traced[:3], traced[3:6], traced[6:]):
        assert len({plot["y"] for plot in row}) == 1
        assert all(left["x"] + left["width"] <= right["x"] for left, right in pairwise(row))
    assert probe["smallestInPlots"] >= _LEAST_PIXELS
    assert probe["overflowing"] == []


def test_a_dark_page_has_no_bright_areas(make_run_folder: FolderMaker, tmp_path: Path) -> None:
    page = render(_comparison_page(make_run_folder, tmp_path), tmp_path, _DARK)
    assert (page.picture.mean(axis=2) > 0.9).mean() < 0.02
    assert page.pixels_of(IN_THE_DARK[scheme_color("sfc")], 0) > 200
    letters = (page.plot(0).mean(axis=2) > 0.75).mean()
    assert 0.002 < letters < 0.1


def test_a_claim_that_does_not_hold_stands_out(make_run_folder: FolderMaker, tmp_path: Path) -> None:
    [probe] = lay_out(_experiment_page(make_run_folder, tmp_path), tmp_path, WIDE)
    holds, fails = probe["holds"]
    assert holds != fails
