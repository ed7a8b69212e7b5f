# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Generates docs/reproduction/ from stored findings: `python -m reproduction.document [--check] [FOLDER...]`.

The folder gets a summary, README.md, and one page per experiment. FOLDER is an output folder of `reproduce`: the
findings in every reproduction.json below it are added to docs/stored/reproduction.json, and the figure of each to
docs/images/reproduction. `reproduction.summaries` decides which findings replace others. Without FOLDER the pages are
generated from the stored findings. The reasons why claims fail are in docs/stored/reproduction-remarks.yaml. Pages
such as docs/rivals.md, which are written by hand, get a table and a figure of a scale between two markers.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml
from pydantic import TypeAdapter

from analysis.plots.canvas import write_png
from analysis.report.experiment import FIGURE_FILE
from hosts.transport.congestion.presets import DEFAULT_PRESET
from os_helpers.visible import visible
from reproduction.catalogue import EXPERIMENTS
from reproduction.document.experiment import Remark, experiment_page
from reproduction.document.overview import OVERVIEWS, with_overview
from reproduction.document.parts import SUMMARY_PAGE, Pictures, durations_place
from reproduction.document.summary import summary_page
from reproduction.durations import have_several_durations, over_durations, plot_durations
from reproduction.record import FILE_NAME, StoredReproduction, read_reproduction
from reproduction.summaries import Place, Summary, merged, read_summaries, summary_of, write_summaries
from telemetry.atomic_file import replace_text
from testbed.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "reproduction"
PICTURES = ROOT / "docs" / "images" / "reproduction"
REMARKS = ROOT / "docs" / "stored" / "reproduction-remarks.yaml"

Remarks = Mapping[str, Mapping[str, Remark]]
"""Remarks by experiment and by the text of the claim."""


def read_remarks() -> Remarks:
    """Read the reasons why claims do not hold, with the runs that tested each reason."""
    form: TypeAdapter[Remarks] = TypeAdapter(Remarks)
    return form.validate_python(yaml.safe_load(REMARKS.read_text(encoding="utf-8")))


def below(folders: Sequence[Path]) -> list[tuple[Summary, StoredReproduction]]:
    """Return the findings below some folders that count as reproductions of the paper.

    UsageError if there are no findings at all, or if a file cannot be read.
    """
    paths = [path for folder in folders for path in folder.rglob(FILE_NAME)]
    if not paths:
        raise UsageError(f"no {FILE_NAME} below {', '.join(map(str, folders))}")
    reproductions = [read_reproduction(path.parent) for path in paths]
    known = [stored for stored in reproductions if stored.reproduction.experiment in EXPERIMENTS]
    return [(summary, stored) for stored in known if (summary := summary_of(stored)) is not None]


def pages_of(summaries: Sequence[Summary], remarks: Remarks, pictures: Pictures) -> dict[str, str]:
    """Return the text of each page by its file name."""
    by_experiment = {
        name: [summary for summary in summaries if summary.experiment == name]
        for name in dict.fromkeys(summary.experiment for summary in summaries)
    }
    pages = {SUMMARY_PAGE: summary_page(by_experiment, pictures)}
    for name, scales in by_experiment.items():
        pages[f"{name}.md"] = experiment_page(scales, remarks.get(name, {}), pictures)
    return pages


def main(arguments: Sequence[str]) -> int:
    """Generate the pages, after adding the findings below FOLDER; with --check only compare them with the files."""
    parser = argparse.ArgumentParser(prog="python -m reproduction.document")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page is not current")
    parser.add_argument("folders", metavar="FOLDER", nargs="*", type=Path, help="output folder of `reproduce`")
    options = parser.parse_args(arguments)
    try:
        summaries = read_summaries()
        if options.folders and not options.check:
            new = below(options.folders)
            summaries = merged(summaries, (summary for summary, _ in new))
            _copy_pictures([(summary, stored) for summary, stored in new if summary in summaries])
            _draw_durations(summaries)
            write_summaries(summaries)
    except UsageError as error:
        sys.stderr.write(f"{visible(str(error))}\n")
        return 2
    pages = pages_of(summaries, read_remarks(), _pictures(summaries))
    overviews = _pages_with_overview(summaries)
    if options.check:
        are_current = all(path.read_text(encoding="utf-8") == text for path, text in overviews.items())
        return 0 if are_current and pages == _stored_pages() else 1
    for path, text in overviews.items():
        replace_text(path, text)
    PAGES.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        replace_text(PAGES / name, text)
    for name in _stored_pages().keys() - pages.keys():
        (PAGES / name).unlink()
    return 0


def _pages_with_overview(summaries: Sequence[Summary]) -> dict[Path, str]:
    """Return the text of each page in docs/ that has a generated part, for experiments with stored findings."""
    pictures = {place: path.removeprefix("../") for place, path in _pictures(summaries).items()}
    texts = {}
    for name in OVERVIEWS:
        path = PAGES.parent / f"{name}.md"
        own = [summary for summary in summaries if summary.experiment == name]
        if own and path.exists():
            texts[path] = with_overview(path.read_text(encoding="utf-8"), own, pictures)
    return texts


def _stored_pages() -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")}


def _copy_pictures(new: Sequence[tuple[Summary, StoredReproduction]]) -> None:
    """Copy the figure of each reproduction to the folder of the pages' pictures."""
    for summary, stored in new:
        drawn = stored.folder / FIGURE_FILE
        if drawn.exists():
            target = _picture(summary)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(drawn, target)


def _pictures(summaries: Sequence[Summary]) -> dict[Place, str]:
    """Return the paths of the existing pictures, relative to the folder of the pages."""
    paths = {summary.place: _picture(summary) for summary in summaries}
    paths |= {durations_place(summary.experiment): _durations_picture(summary.experiment) for summary in summaries}
    return {place: f"../{path.relative_to(PAGES.parent).as_posix()}" for place, path in paths.items() if path.exists()}


def _picture(summary: Summary) -> Path:
    other = "" if summary.preset == DEFAULT_PRESET else f"-{summary.preset.replace('/', '-')}"
    length = "" if summary.arrivals_us is None else f"-{summary.arrivals_us / 1000:g}ms"
    return PICTURES / summary.scale / f"{summary.experiment}{length}{other}.png"


def _durations_picture(experiment: str) -> Path:
    return PICTURES / "paper" / f"{experiment}-durations.png"


def _draw_durations(summaries: Sequence[Summary]) -> None:
    """Draw the figure of every experiment with several durations at scale paper."""
    for name in dict.fromkeys(summary.experiment for summary in summaries):
        places = over_durations([summary for summary in summaries if summary.experiment == name])
        if have_several_durations(places):
            path = _durations_picture(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_png(plot_durations(places), path)
