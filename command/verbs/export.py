# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`runner.py export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from analysis.results.result import ResultError
from command.output import console
from testbed.errors import UsageError
from testbed.execution.hpcc_export import export_hpcc


def verb(
    folder: Annotated[Path, typer.Argument(help="Run folder.", show_default=False)],
    *,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Default: `hpcc` in the run folder.")] = None,
) -> None:
    """Writes a run for other simulators' tools."""
    try:
        for path in export_hpcc(folder, out or folder / "hpcc"):
            console.print(path, soft_wrap=True)
    except ResultError as error:
        raise UsageError(str(error)) from error
