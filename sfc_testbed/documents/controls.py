# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The pictures of docs/schemes/congestion-controls.md: `python -m sfc_testbed.documents.controls FOLDER...`.

Each scheme of the runs below the folders has one picture, docs/images/controls/CONTROL.png. The picture has a column
for each run, ordered by the number of flows.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from os_helpers.visible import visible
from sfc_testbed.analysis.plots.canvas import draw
from sfc_testbed.analysis.plots.congestion import plot_control
from sfc_testbed.analysis.plots.plotted_run import PlottedRun
from sfc_testbed.analysis.results.result import RESULT_FILE, ResultError
from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.documents.pictures import write_picture
from sfc_testbed.place import ROOT

PICTURES = ROOT / "docs" / "images" / "controls"


def main(arguments: Sequence[str], pictures: Path = PICTURES) -> int:
    """Write a picture for each scheme below the folders. Return 2 if a run cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m sfc_testbed.documents.controls")
    parser.add_argument("folders", nargs="+", type=Path, help="folders that contain runs with a trace `cc`")
    folders = parser.parse_args(arguments).folders
    try:
        runs = [load_run(path.parent) for folder in folders for path in sorted(folder.rglob(RESULT_FILE))]
    except ResultError as error:
        sys.stderr.write(f"{visible(str(error))}\n")
        return 2
    by_scheme: dict[str, list[PlottedRun]] = {}
    for run in sorted(runs, key=lambda run: run.flows.height):
        scheme = run.result.scheme
        plotted = PlottedRun(
            f"{scheme}, {run.flows.height} flows", scheme, run.flows, run.queues, congestion=run.congestion
        )
        by_scheme.setdefault(scheme, []).append(plotted)
    pictures.mkdir(parents=True, exist_ok=True)
    for scheme, plots in by_scheme.items():
        path = pictures / f"{scheme.partition('+')[2] or scheme}.png"
        write_picture(draw(plot_control(plots)), path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
