# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`runner.py export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from command.options import folder_of
from command.output import say
from command.stored import refused_in_one_line
from testbed.execution.hpcc_export import export_hpcc
from testbed.execution.room import check_output


def verb(
    folder: Annotated[Path, typer.Argument(help="Run folder.", show_default=False)],
    *,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", parser=folder_of, help="Default: `hpcc` in the run folder.")
    ] = None,
) -> None:
    """Writes a run for other simulators' tools."""
    if out is not None:
        check_output(out)
    with refused_in_one_line(folder):
        for path in export_hpcc(folder, out):
            say(str(path))
