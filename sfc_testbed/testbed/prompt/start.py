# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`sfc-testbed cli`: starts a live network and its prompt, for a person or for a script of prompt lines."""

from __future__ import annotations

import readline
import sys
from functools import partial
from typing import IO

from mininet.log import output
from rich.console import Console

from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.interrupt import interruptible, prompting
from sfc_testbed.testbed.live.session.session import open_session
from sfc_testbed.testbed.prompt.shell import Shell, run_lines
from sfc_testbed.testbed.prompt.terminal import Terminal


def open_prompt(request: RunSpec, console: Console, script: IO[str] | None = None, *, is_watched: bool = False) -> bool:
    """Start the request's network and run the prompt until the user leaves, or execute a script.

    Everything is removed afterwards. Ctrl-C interrupts the start and ends a script. At the prompt it has the prompt's
    own meaning. `is_watched`: whether to open the page that shows the network. Returns False if a line of the script
    failed.
    """
    with interruptible() as interrupt, open_session(request, interrupt, partial(_say, console)) as session:
        hosts = session.topology.hosts
        switches = f"{len(session.switches)} switch{'es' * (len(session.switches) > 1)}"
        containers = session.network.emulation.containers
        kind = "hosts" if containers is None else f"hosts (containers of {containers.image})"
        most = len(session.topology.hosts_in_plane_of(hosts[-1].name)) - 1
        console.print(
            f"{switches} and {len(hosts)} {kind} are up, {session.dilation.factor} times slower than the model: "
            f"try `pingall`, `incast {hosts[-1].name} {most} 250KB`, `queues`, `flows`, "
            "`help`, `exit`",
            soft_wrap=True,
        )
        if is_watched:
            _say(console, f"watch: {session.watch()}")
        terminal = Terminal(lambda text: output(text), console, has_keys=None if script is None else False)
        shell = Shell(session, terminal, sys.stdin)
        with prompting():
            return _serve(shell, script)


def _say(console: Console, line: str) -> None:
    console.print(line, soft_wrap=True)


def _serve(shell: Shell, script: IO[str] | None) -> bool:
    if script is not None:
        return run_lines(shell, script)
    shell.initReadline()
    readline.set_completer_delims(" \t\n")  # names of schemes contain dashes and plus signs
    shell.run()
    return True
