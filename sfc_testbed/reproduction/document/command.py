# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Generates docs/reproduction/ from findings: `python -m sfc_testbed.reproduction.document [--check] [FOLDER...]`.

The folder gets one page per experiment beside its overview, README.md. FOLDER is an output folder of `reproduce`: the
findings in every reproduction.json below it are added to docs/stored/reproduction.json, and the figure of each set that
a page shows to docs/images/reproduction. `reproduction.summaries` decides which findings replace others, and which a
page shows. Without FOLDER the pages are generated from the stored findings. The reasons why claims fail are in
docs/stored/reproduction-remarks.yaml. The overview and docs/rivals.md are written by hand; only the parts between
markers are generated.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from os_helpers.visible import visible
from sfc_testbed.analysis.report.experiment import FIGURE_FILE
from sfc_testbed.place import ROOT
from sfc_testbed.reproduction.catalogue import EXPERIMENTS
from sfc_testbed.reproduction.document.pages import SUMMARY_PAGE, Pictures, pages_of, parts_of, with_parts
from sfc_testbed.reproduction.record import FILE_NAME, StoredReproduction, read_reproduction
from sfc_testbed.reproduction.remarks import read_remarks
from sfc_testbed.reproduction.summaries import (
    Summary,
    by_experiment,
    largest,
    merged,
    read_summaries,
    summary_of,
    write_summaries,
)
from sfc_testbed.telemetry.atomic_file import replace_text
from sfc_testbed.testbed.errors import UsageError

PAGES = ROOT / "docs" / "reproduction"
PICTURES = ROOT / "docs" / "images" / "reproduction"
BY_HAND = (PAGES / SUMMARY_PAGE, PAGES.parent / "rivals.md")
"""Hand-written pages with generated parts."""
_COLORS = 64
"""Colours of a stored picture, which make it a third as large."""


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


def main(arguments: Sequence[str]) -> int:
    """Generate the pages, after adding the findings below FOLDER; with --check only compare them with the files."""
    parser = argparse.ArgumentParser(prog="python -m sfc_testbed.reproduction.document")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page is not current")
    parser.add_argument("folders", metavar="FOLDER", nargs="*", type=Path, help="output folder of `reproduce`")
    options = parser.parse_args(arguments)
    try:
        summaries = read_summaries()
        if options.folders and not options.check:
            new = below(options.folders)
            summaries = merged(summaries, (summary for summary, _ in new))
            _store_pictures(summaries, new)
            write_summaries(summaries)
    except UsageError as error:
        sys.stderr.write(f"{visible(str(error))}\n")
        return 2
    remarks = read_remarks()
    parts = parts_of(summaries, remarks)
    texts = {path: with_parts(path.read_text(encoding="utf-8"), parts) for path in BY_HAND if path.exists()}
    texts |= {PAGES / name: text for name, text in pages_of(summaries, remarks, _pictures()).items()}
    stale = [path for path in PAGES.glob("*.md") if path not in texts]
    if options.check:
        is_current = all(path.exists() and path.read_text(encoding="utf-8") == text for path, text in texts.items())
        return 0 if is_current and not stale else 1
    for path, text in texts.items():
        replace_text(path, text)
    for path in stale:
        path.unlink()
    return 0


def _pictures() -> Pictures:
    """Return the paths of the stored pictures by experiment, relative to the folder of the pages."""
    return {path.stem: f"../{path.relative_to(PAGES.parent).as_posix()}" for path in PICTURES.glob("*.png")}


def _store_pictures(summaries: Sequence[Summary], new: Sequence[tuple[Summary, StoredReproduction]]) -> None:
    """Store the figure of each new set that a page shows, or remove the former figure if the set has none."""
    shown = [largest(own) for own in by_experiment(summaries).values()]
    for summary, stored in new:
        if summary in shown:
            target = PICTURES / f"{summary.experiment}.png"
            drawn = stored.folder / FIGURE_FILE
            if drawn.exists():
                store_picture(drawn, target)
            else:
                target.unlink(missing_ok=True)


def store_picture(drawn: Path, target: Path) -> None:
    """Store a picture with a palette of few colours."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(drawn) as picture:
        picture.convert("RGB").quantize(_COLORS, dither=Image.Dither.NONE).save(target, optimize=True)
