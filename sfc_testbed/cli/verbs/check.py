# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`sfc-testbed check`. Functions import what bad input does not need."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from sfc_testbed.cli.output import EXIT_CLAIM, complain, say, warn
from sfc_testbed.native.first_use import prepare
from sfc_testbed.request.extensions import load_installed, use


def verb(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE.py", help="Files as for --use; an installed module may be named, too."),
    ],
) -> None:
    for problem in load_installed():
        warn(problem)
    extensions = use(*files)
    prepare()

    from sfc_testbed.api.progress import status
    from sfc_testbed.cli.output import errors
    from sfc_testbed.contract.extension import checked

    made: Counter[str] = Counter()
    lacks: dict[tuple[str, str], list[str]] = {}
    with status("checking", errors) as line:
        for extension in extensions:
            for checked_row in checked(extension):
                made[checked_row.what] += 1
                line.update(f"checking {checked_row.what}: {checked_row.check}")
                if checked_row.lack is not None:
                    lacks.setdefault((checked_row.what, checked_row.lack), []).append(checked_row.check)
    for what, count in made.items():
        say(f"{what}: {count} checks")
    for (what, lack), checks in lacks.items():
        more = f", and {len(checks) - 1} more" if len(checks) > 1 else ""
        complain(f"! {what}: {lack} ({checks[0]}{more})", "red")
    if lacks:
        say(f"{sum(map(len, lacks.values()))} of {made.total()} checks failed")
        raise typer.Exit(EXIT_CLAIM)
    say("all hold")
