# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`runner.py clean`."""

from __future__ import annotations

from typing import Annotated

import typer

from command.output import console
from testbed.system.cleanup import clean


def verb(
    run_ids: Annotated[
        list[str] | None, typer.Argument(help="Runs to end even if they live.", show_default=False)
    ] = None,
) -> None:
    """Ends the remains of runs."""
    found = clean(run_ids or None)
    for each in found:
        if each.is_still_running:
            console.print(f"{each.run_id}: still running, left alone (name it to end it)")
        else:
            console.print(f"{each.run_id}: ended {each.processes} processes")
    if not found:
        console.print("nothing to clean")
