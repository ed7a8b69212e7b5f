# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The switches of a run as data: the P4 program, the commands file of each, how often queues are sampled."""

from __future__ import annotations

from pathlib import Path

from softswitch.build import build_library
from testbed.plan.plan import RunPlan
from testbed.program.given import GivenProgram, program_file
from testbed.program.sources import OWN_PROGRAM, ROOT
from topologies.commands import pipeline_commands, wire_commands

PROGRAM = ROOT / OWN_PROGRAM
SAMPLE_NS = 10_000


def switch_commands(plan: RunPlan, switch: str) -> list[str]:
    """The whole commands file of a switch on softswitch."""
    lines = pipeline_commands(plan.topology, switch, plan.switch_settings, plan.dilation)
    return lines + wire_commands(plan.topology, switch, plan.dilation)


def build_engine(program: GivenProgram | None = None) -> Path:
    """softswitch with a program as a shared object, for runs in virtual time; None: our own."""
    return build_library(program_file(program))
