# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compiles the P4 programs of runs before they start."""

from __future__ import annotations

from collections.abc import Sequence

from os_helpers.cache import CacheRefused, cache_dir
from sfc_testbed.request.spec import P4Program
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.program.user_program import program_file
from sfc_testbed.testbed.system.limits import out_of_room
from sfc_testbed.testbed.targets.common.commands import build_engine
from softswitch.build import BuildError, build_executable
from softswitch.codegen.ir.source import CodegenError


def build_programs(plans: Sequence[RunPlan]) -> None:
    """Compile the programs that the runs and their dry runs load, unless they are in the cache.

    Raises UsageError if the disk is full, or if softswitch cannot run the user's program.
    """
    builds = {(plan.config.clock, plan.spec.program): None for plan in plans if plan.config.switch == "soft"}
    try:
        for clock, program in builds:
            _build(clock, program)
    except CacheRefused as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        full = out_of_room(error, [cache_dir()])
        if full is None:
            raise
        raise UsageError(f"the switch's P4 program cannot be compiled: {full}") from error


def _build(clock: str, program: P4Program | None) -> None:
    try:
        build_engine(program)  # also for the dry run of a live run
        if clock == "real":
            build_executable(program_file(program))
    except (BuildError, CodegenError) as error:
        if program is None:
            raise
        raise UsageError(f"--p4 {program.word}: softswitch cannot run it: {error}") from error
