# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a person asks for, as typed, and the command line that asks for it again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from analysis.formatting import variant_of
from scenarios.listed import LISTED
from testbed.program.given import GivenProgram

ClockName = Literal["real", "virtual"]
MAX_DILATION = 10_000_000
NETWORK_DILATION = 10_000
"""Of a live network to play with: two cores keep up with its hosts."""


@dataclass(frozen=True)
class Retry:
    """Another try of a run that was late."""

    of: str
    """Name of its folder."""
    dilation: int


@dataclass(frozen=True)
class RunRequest:
    """What was typed. `dilation` None and `duration_ms` None are chosen; `topology` None is the scale's.

    Flows come from `flow_file` if there is one, else from the scenario's workload.
    """

    scenario: str
    scheme: str = "sfc"
    switch: str = "auto"
    clock: ClockName = "real"
    dilation: int | None = None
    scale: str = "ci"
    seed: int = 1
    duration_ms: float | None = None
    topology: str | None = None
    settings: Sequence[str] = field(default_factory=tuple)
    captures: Sequence[str] = field(default_factory=tuple)
    background: str | None = None
    hosts: str | None = None
    """None: Mininet's own; `docker:IMAGE`: containers."""
    flow_file: Path | None = None
    faults: Sequence[str] = field(default_factory=tuple)
    retry: Retry | None = None
    """Of a run that was late: its D counts instead of `dilation`."""
    program: GivenProgram | None = None
    """Of the switches; None: the testbed's own."""

    @property
    def variant(self) -> str:
        """What tells its runs from those of another scheme or program."""
        return variant_of(self.scheme, None if self.program is None else self.program.name)


def repeat_command(request: RunRequest, factor: int) -> str:
    """Return the command line that repeats a run."""
    scenario = [] if request.scenario == LISTED.name else [request.scenario]
    words = ["./runner.py", "run", *scenario, "--scheme", request.scheme, "--clock", request.clock]
    if request.switch != "auto":
        words += ["--switch", request.switch]
    words += ["--scale", request.scale, "--seed", str(request.seed), "--dilation", str(factor)]
    options = {
        "--duration": None if request.duration_ms is None else f"{request.duration_ms:g}",
        "--topology": request.topology,
        "--set": request.settings,
        "--flows": None if request.flow_file is None else str(request.flow_file),
        "--fault": request.faults,
        "--pcap": ",".join(request.captures) or None,
        "--background": request.background,
        "--hosts": request.hosts,
        "--p4": None if request.program is None else request.program.word,
    }
    for option, told in options.items():
        for word in (told,) if isinstance(told, str) else told or ():
            words += [option, word]
    return shlex.join(words)
