# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`runner.py cli`: a live network and Mininet's prompt on it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from rich.console import Console

from testbed.interrupt import interruptible, prompting
from testbed.live.run import live_network
from testbed.live.verbs import Verbs
from testbed.plan.plan import RunPlan


def open_prompt(plan: RunPlan, console: Console) -> None:
    """Starts the plan's network and gives the prompt until the user leaves; nothing stays.

    Ctrl-C ends the start; at the prompt it has the prompt's own meaning.
    """
    with (
        interruptible() as interrupt,
        tempfile.TemporaryDirectory(prefix="sfc-testbed-") as logs,
        live_network(plan, Path(logs), interrupt) as network,
    ):
        hosts = plan.topology.hosts
        console.print(
            f"{len(network.switches)} switches and {len(hosts)} hosts are up, {plan.config.dilation} times slower than "
            f"the model: try `{hosts[0].name} ping -c 3 {hosts[-1].name}`, `queues`, `bts`, `help`, `exit`",
            soft_wrap=True,
        )
        verbs = Verbs(plan.topology, plan.dilation, network.switches)
        with prompting():
            network.emulation.prompt(verbs.table())
