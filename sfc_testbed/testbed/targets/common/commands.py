# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The P4 program and the commands file of each switch, and the sampling intervals of queues and links."""

from __future__ import annotations

from pathlib import Path

from sfc_testbed.place import PACKAGE
from sfc_testbed.request.spec import P4Program
from sfc_testbed.testbed.control_plane.commands import wire_commands
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.program.sources import OWN_PROGRAM
from sfc_testbed.testbed.program.user_program import program_file
from softswitch.build import build_library

PROGRAM = PACKAGE / OWN_PROGRAM
SAMPLE_NS = 10_000
LINK_SAMPLE_NS = 2 * SAMPLE_NS
"""The interval of the links trace, a multiple of the interval of queues: short enough for a burst of 1 MB at 400 Gb/s,
and long enough that the trace is smaller than the queues trace of the same run."""


def switch_commands(plan: RunPlan, switch: str) -> list[str]:
    """Return the lines of the complete commands file of a switch on softswitch."""
    return [*map(str, plan.commands[switch]), *wire_commands(plan.topology, switch, plan.dilation)]


def build_engine(program: P4Program | None = None) -> Path:
    """Build softswitch with a P4 program as a shared object, for runs in virtual time. None: the testbed's program."""
    return build_library(program_file(program))
