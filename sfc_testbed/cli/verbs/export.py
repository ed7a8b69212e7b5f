# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`sfc-testbed export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfc_testbed.api.errors import refused_in_one_line
from sfc_testbed.api.requests import folder_of
from sfc_testbed.cli.listing import words
from sfc_testbed.cli.options import Uses
from sfc_testbed.cli.output import EXIT_INVALID, say, warn
from sfc_testbed.request.shown import nearest, shown
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.execution.export_formats import EXPORT_FORMATS
from sfc_testbed.testbed.execution.limits import check_output

_MEANINGS = ". ".join(f"{name}: {row.summary}" for name, row in EXPORT_FORMATS.items())


def verb(
    folder: Annotated[Path, typer.Argument(help="Run folder.", show_default=False)],
    *,
    kind: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="|".join(EXPORT_FORMATS),
            help=f"{_MEANINGS}. An extension may have more formats.",
            autocompletion=words.export_formats,
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
    """Write the files. Every unreadable file of the run is a line on stderr."""
    if kind not in EXPORT_FORMATS:
        known = ", ".join(EXPORT_FORMATS)
        raise UsageError(f"--format: no format {shown(kind)}; choose from {known}{nearest(kind, EXPORT_FORMATS)}")
    if out is not None:
        check_output(out)
    with refused_in_one_line(folder):
        exported = EXPORT_FORMATS[kind].write(folder, out)
        for path in exported.paths:
            say(str(path))
    for problem in exported.problems:
        warn(problem)
    if exported.problems:
        raise typer.Exit(EXIT_INVALID)
