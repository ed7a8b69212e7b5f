# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`sfc-testbed watch`. Functions import what bad input does not need."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from sfc_testbed.cli.options import Uses
from sfc_testbed.cli.output import say


def verb(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="Run folders, or the folder of a comparison.", show_default="newest in runs"),
    ] = None,
    *,
    use: Uses = None,
) -> None:
    """Write a page that plays runs side by side, print its path, and open it in a browser if there is a display."""
    from sfc_testbed.api.errors import refused_in_one_line
    from sfc_testbed.cli.tracing import newest_run
    from sfc_testbed.testbed.execution.unfinished import finish_run
    from sfc_testbed.testbed.execution.watch_page import write_watch
    from sfc_testbed.testbed.recording.folder import give_to_caller

    out = (folders or [newest_run(Path("runs"))])[0]
    with refused_in_one_line(out):
        runs = _runs(folders or [out])
        for folder in runs:
            if finish_run(folder):
                give_to_caller(folder)
        page = write_watch(runs, out)
    give_to_caller(page)
    say(f"page: {page}")
    if sys.stdout.isatty() and _has_display():
        import webbrowser

        webbrowser.open(page.resolve().as_uri())


def _runs(folders: list[Path]) -> list[Path]:
    """Return the runs to play. Of a comparison, they are the runs with its first seed."""
    from sfc_testbed.analysis.results.comparison import COMPARISON_FILE, read_comparison
    from sfc_testbed.testbed.errors import UsageError
    from sfc_testbed.testbed.execution.watch_page import MOST_RUNS, with_first_seed

    if len(folders) == 1 and (folders[0] / COMPARISON_FILE).is_file():
        folders = with_first_seed(read_comparison(folders[0])[1])[:MOST_RUNS]
    if not 1 <= len(folders) <= MOST_RUNS:
        raise UsageError(f"watch: {len(folders)} runs; a page plays 1 to {MOST_RUNS}")
    return folders


def _has_display() -> bool:
    import os

    return sys.platform == "darwin" or any(name in os.environ for name in ("DISPLAY", "WAYLAND_DISPLAY"))
