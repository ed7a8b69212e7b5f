# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Writes the table of docs/validation.md: `python -m sfc_testbed.documents.simulators [--check] [FOLDER...]`.

The runs in every peer-validation.json below the folders are added to docs/stored/validation.json; a new run replaces
the stored run with the same label. Without folders, the page is written from the stored runs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from os_helpers.visible import visible
from sfc_testbed.analysis.formatting import NOTHING, markdown_table
from sfc_testbed.analysis.results.result import ResultError
from sfc_testbed.documents import stored
from sfc_testbed.documents.pictures import plot_fcts, write_picture
from sfc_testbed.documents.stored import PageError, replaced, write_runs
from sfc_testbed.place import ROOT
from sfc_testbed.simulators.comparison import FILE_NAME, PeerRun, PeerValidation, read_peer_validation
from sfc_testbed.simulators.tables import compared_figures
from sfc_testbed.telemetry.atomic_file import replace_text

DOCUMENT = stored.DOCS / "validation.md"
STORE = stored.CASES
PICTURE = "images/fct-against-the-hpcc-simulator.png"
"""The path of the plot, relative to the document."""


def summary(validation: PeerValidation) -> str:
    """Return the median and the largest absolute difference of all runs for each simulator, as Markdown."""
    rows = []
    for peer in dict.fromkeys(map(_row_name, validation.runs)):
        runs = [run for run in validation.runs if _row_name(run) == peer]
        columns = zip(*(compared_figures(run) for run in runs), strict=True)
        cells = [_spread([abs(both.share) for both in column if both is not None]) for column in columns]
        rows.append((peer, str(len(runs)), *cells))
    return markdown_table(("simulator", "cases", "mean", "P99", "peak queue", "mean queued", "imbalance"), rows)


def _row_name(run: PeerRun) -> str:
    """Return the name of the row that a run belongs to: the runs with load balancing have one of their own."""
    return run.peer if run.spread_mean is None else f"{run.peer}, load balancing"


def _spread(shares: Sequence[float]) -> str:
    return f"{100 * median(shares):.1f}, at most {100 * max(shares):.1f} %" if shares else NOTHING


def merged(stored: Sequence[PeerRun], new: Sequence[PeerRun]) -> tuple[PeerRun, ...]:
    """Return all runs in order of their first appearance. New runs replace stored runs of the same label."""
    return tuple({run.label: run for run in (*stored, *new)}.values())


def _of_the_clone(run: PeerRun) -> PeerRun:
    """Return a run whose command names the clone's files relative to its folder."""
    return run.model_copy(update={"command": run.command.replace(f"{ROOT}/", "")})


def document(text: str, validation: PeerValidation) -> str:
    """Return the text of the page with the generated part replaced."""
    return replaced(DOCUMENT, text, "summary", summary(validation))


def main(arguments: Sequence[str]) -> int:
    """Store the runs below the folders and write the page. With --check, only return 1 if the page is not current."""
    parser = argparse.ArgumentParser(prog="python -m sfc_testbed.documents.simulators")
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 if the page is not current")
    parser.add_argument("folders", nargs="*", type=Path, help="folders written by validate --peer")
    options = parser.parse_args(arguments)
    try:
        stored = read_peer_validation(STORE)
        paths = sorted(path for folder in options.folders for path in folder.rglob(FILE_NAME))
        if options.folders and not paths:
            raise ResultError(f"no {FILE_NAME} below {', '.join(map(str, options.folders))}")
        new = [_of_the_clone(run) for path in paths for run in read_peer_validation(path).runs]
        validation = stored.model_copy(update={"runs": merged(stored.runs, new)})
        current = DOCUMENT.read_text(encoding="utf-8")
        wanted = document(current, validation)
    except (PageError, ResultError) as error:
        sys.stderr.write(f"{visible(str(error))}\n")
        return 2
    if options.check:
        return int(wanted != current)
    if new:
        write_runs(STORE, validation)
        drawn = [run for run in validation.runs if run.peer == validation.peer]
        write_picture(plot_fcts(drawn, validation.peer), DOCUMENT.parent / PICTURE)
    replace_text(DOCUMENT, wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
