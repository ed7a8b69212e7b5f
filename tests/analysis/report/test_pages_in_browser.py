# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The report pages as a reader sees them: opened in headless Chromium, laid out, and photographed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from html import unescape
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

from analysis.plots.palette import scheme_color
from analysis.report.experiment import ClaimRow, ExperimentPage, RunLink, write_experiment_page
from analysis.report.pages import write_comparison_report, write_run_report

FolderMaker = Callable[..., Path]

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), ""
)
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium on the PATH")

WIDE, NARROW = 1200, 420
_HEIGHT = 6000

# What a browser knows and a parser does not: sizes after layout, what was fetched, what went wrong.
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
    plots: [...document.querySelectorAll("svg")].map(box),
    holds: [...document.querySelectorAll("table.claims tbody td:last-child")].map(each => getComputedStyle(each).color),
    smallestText: Math.min(...[...document.querySelectorAll("td, th, p, pre, figcaption")]
      .filter(each => each.innerText.trim()).map(each => parseFloat(getComputedStyle(each).fontSize))),
  };
  const place = document.createElement("script");
  place.type = "application/json";
  place.id = "probe";
  place.textContent = JSON.stringify(found);
  document.body.append(place);
});
</script>
"""


@dataclass(frozen=True)
class Seen:
    """A page after layout: what the probe found, and the picture as rows x columns x RGB from 0 to 1."""

    found: dict[str, Any]
    picture: NDArray[np.float64]

    def pixels_of(self, color: str, plot: int) -> int:
        """How many pixels of a plot have this colour, but for smoothing at their edges."""
        box = {key: round(value) for key, value in self.found["plots"][plot].items()}
        inside = self.picture[box["y"] : box["y"] + box["height"], box["x"] : box["x"] + box["width"]]
        return int((np.abs(inside - np.array(to_rgb(color))).max(axis=2) < 0.08).sum())


def look(page: Path, folder: Path, width: int) -> Seen:
    """Opens a copy of the page, alone in a folder of its own and without a network."""
    alone = folder / f"alone-{width}"
    alone.mkdir()
    copy = alone / "report.html"
    copy.write_text(page.read_text(encoding="utf-8").replace("<head>", f"<head>{_PROBE}", 1), encoding="utf-8")
    document = _chromium(alone, width, copy, "--dump-dom")
    probe = re.search(r'<script type="application/json" id="probe">(.*?)</script>', document, re.DOTALL)
    assert probe, document[-2000:]
    _chromium(alone, width, copy, f"--screenshot={alone / 'seen.png'}")
    picture = imread(alone / "seen.png")[:, :, :3].astype(np.float64)
    return Seen(json.loads(unescape(probe[1])), picture)


def _chromium(folder: Path, width: int, page: Path, action: str) -> str:
    command = [
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        "--proxy-server=127.0.0.1:9",
        f"--user-data-dir={folder / 'profile'}",
        f"--window-size={width},{_HEIGHT}",
        action,
        page.as_uri(),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env={**os.environ, "HOME": str(folder)}
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
            ClaimRow("the cache lowers the queue further", "lower still", "0.27x (1.69 MB against 6.19 MB)", True),
            ClaimRow("egress BTS peaks where OnRamp settles", "equal", "2x (12 MB against 6 MB)", False),
        ],
        runs=[RunLink("sfc", folder, "./runner.py run signaling --scheme sfc --seed 1", "faithful")],
        remarks=["A remark of some length that has to be broken into lines on a narrow screen, as remarks are."],
        command="./runner.py reproduce signaling --scale ci",
    )
    rows = pl.DataFrame({"scheme": ["sfc"], "max_buffer_bytes": [1_690_000]})
    return write_experiment_page(tmp_path / "experiment", page, [("buffer", "Buffer over time.", figure)], rows)


PAGES = {"run": (_run_page, 4, 0), "comparison": (_comparison_page, 5, 0), "experiment": (_experiment_page, 1, 0)}
"""Name -> its maker, how many plots it has, and which of them must show the colour of sfc."""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_its_plots(name: str, make_run_folder: FolderMaker, tmp_path: Path) -> None:
    """Alone and offline: nothing fetched, no error, every plot wide enough to read, and its curve is there to see."""
    make, plots, colored = PAGES[name]
    seen = look(make(make_run_folder, tmp_path), tmp_path, WIDE)
    assert seen.found["problems"] == []
    assert seen.found["fetched"] == []
    assert len(seen.found["plots"]) == plots
    for plot in seen.found["plots"]:
        assert plot["width"] >= 400
        assert plot["height"] >= 150
        assert plot["x"] >= 0
        assert plot["x"] + plot["width"] <= WIDE
    assert seen.found["pageHeight"] <= _HEIGHT, "the picture does not reach the end of the page"
    assert seen.pixels_of(scheme_color("sfc"), colored) > 200
    assert seen.found["smallestText"] >= 11


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_a_narrow_window(name: str, make_run_folder: FolderMaker, tmp_path: Path) -> None:
    """Tables scroll in themselves; the page as a whole does not move sideways."""
    make, *_ = PAGES[name]
    seen = look(make(make_run_folder, tmp_path), tmp_path, NARROW)
    assert seen.found["pageWidth"] <= seen.found["windowWidth"]


def test_plots_do_not_cover_each_other(make_run_folder: FolderMaker, tmp_path: Path) -> None:
    """Each begins below the end of the one before."""
    plots = look(_comparison_page(make_run_folder, tmp_path), tmp_path, WIDE).found["plots"]
    for above, below in pairwise(plots):
        assert below["y"] >= above["y"] + above["height"]


def test_a_claim_that_does_not_hold_stands_out(make_run_folder: FolderMaker, tmp_path: Path) -> None:
    """By its colour, beside the words."""
    holds, fails = look(_experiment_page(make_run_folder, tmp_path), tmp_path, WIDE).found["holds"]
    assert holds != fails
