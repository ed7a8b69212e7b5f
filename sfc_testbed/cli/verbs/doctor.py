# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`sfc-testbed doctor`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from sfc_testbed.analysis.terminal import PROSE, Fitted
from sfc_testbed.cli.calibration import calibrate, print_calibration
from sfc_testbed.cli.output import console
from sfc_testbed.place import command_as_root
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.targets.capabilities import CAPABILITIES, Capability


def verb(
    *,
    measure: Annotated[
        bool,
        typer.Option(
            "--calibrate", help="Measure the speed of this machine for --dilation auto; takes a minute, needs root."
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Calibrate even if the machine is busy.")] = False,
) -> None:
    if measure:
        calibrate(is_forced=force)
        return
    if force:
        raise UsageError("--force needs --calibrate")
    table = Table(box=None, padding=(0, 3, 0, 0))
    table.add_column("capability")
    for heading in ("needed for", "state"):
        table.add_column(heading, ratio=PROSE)
    for capability in CAPABILITIES:
        table.add_row(Text(capability.name), Text(capability.needed_for), _state(capability))
    console.print(Fitted(table))
    console.print()
    print_calibration()


def _state(capability: Capability) -> Text:
    if capability.is_unknown:
        return Text.assemble(("unknown", "yellow"), f": only root can check it; use {command_as_root()} doctor")
    missing = capability.probe()
    return Text("available", "green") if missing is None else Text.assemble(("missing", "yellow"), f": {missing}")
