# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`sfc-testbed export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from sfc_testbed.api.errors import refused_in_one_line
from sfc_testbed.api.requests import folder_of
from sfc_testbed.cli.options import Uses
from sfc_testbed.cli.output import EXIT_INVALID, say, warn
from sfc_testbed.testbed.execution.hpcc_export import export_hpcc
from sfc_testbed.testbed.execution.limits import check_output
from sfc_testbed.testbed.execution.perfetto_export import export_perfetto


def verb(
    folder: Annotated[Path, typer.Argument(help="Run folder.", show_default=False)],
    *,
    kind: Annotated[
        Literal["hpcc", "perfetto"],
        typer.Option(
            "--format", help="hpcc: files of the HPCC simulator. perfetto: a timeline for https://ui.perfetto.dev."
        ),
    ] = "hpcc",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            parser=folder_of,
            help="Output folder; by default the run folder, for hpcc its subfolder `hpcc`.",
        ),
    ] = None,
    use: Uses = None,
) -> None:
    if out is not None:
        check_output(out)
    with refused_in_one_line(folder):
        if kind == "perfetto":
            _export_timeline(folder, out or folder)
            return
        for path in export_hpcc(folder, out):
            say(str(path))


def _export_timeline(folder: Path, out: Path) -> None:
    """Write the timeline. Every unreadable file of the run is a line on stderr."""
    exported = export_perfetto(folder, out)
    say(str(exported.path))
    for problem in exported.problems:
        warn(problem)
    if exported.problems:
        raise typer.Exit(EXIT_INVALID)
