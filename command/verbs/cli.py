# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`runner.py cli`."""

from __future__ import annotations

from typing import Annotated

import typer

from command.options import Settings, SwitchName
from command.output import console
from testbed.execution import capabilities
from testbed.plan.plan import RunRequest, plan_network
from testbed.plan.request import MAX_DILATION


def verb(
    *,
    topology: Annotated[str, typer.Option(help="Network, see `list`.")] = "clos",
    scheme: Annotated[str, typer.Option(help="Scheme that the switches are set up for.")] = "sfc",
    switch: SwitchName = "auto",
    dilation: Annotated[
        int, typer.Option(min=1, max=MAX_DILATION, help="How much slower than the model the switches run.")
    ] = 1000,
    settings: Settings = None,
) -> None:
    """Starts a network with a prompt."""
    plan = plan_network(
        RunRequest("none", scheme, switch, topology=topology, dilation=dilation, settings=tuple(settings or ()))
    )
    capabilities.require("real", plan.config.switch, plan.mtu_bytes)

    from testbed.live.prompt import open_prompt  # Mininet may not be there, which has just been asked

    open_prompt(plan, console)
