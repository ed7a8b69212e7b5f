# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The request for a run as the user typed it, and the command line that repeats it."""

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
"""The default dilation of an interactive live network, whose hosts two cores can serve."""


@dataclass(frozen=True)
class Retry:
    """The repetition of a late run."""

    of: str
    """The name of the late run's folder."""
    dilation: int


@dataclass(frozen=True)
class RunRequest:
    """The typed options. A missing `dilation` or `duration_ms` is chosen later; the scale gives a missing `topology`.

    The flows come from `flow_file` if there is one, else from the scenario's workload.
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
    """`docker:IMAGE` for containers, or None for Mininet's own hosts."""
    flow_file: Path | None = None
    faults: Sequence[str] = field(default_factory=tuple)
    retry: Retry | None = None
    """The repetition of a late run; its dilation replaces `dilation`."""
    program: GivenProgram | None = None
    """The program of the switches; None for the testbed's own."""

    @property
    def variant(self) -> str:
        """The label that distinguishes its runs from runs with another scheme or program."""
        return variant_of(self.scheme, None if self.program is None else self.program.name)


def repeat_command(request: RunRequest, factor: int) -> str:
    """Return the command line that repeats a run with this dilation."""
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
    for option, value in options.items():
        for word in (value,) if isinstance(value, str) else value or ():
            words += [option, word]
    return shlex.join(words)
