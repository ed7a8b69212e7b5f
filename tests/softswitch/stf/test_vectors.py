# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs the same packet tests on softswitch and on BMv2."""

from pathlib import Path

import pytest

from softswitch.stf.engine_target import EngineTarget
from softswitch_tests.programs.steered import SANITIZED
from tests.softswitch.stf.bmv2 import NOT_ON_BMV2, needs_bmv2, skip_what_corrupts_it
from tests.softswitch.stf.vectors import VECTORS, name_of, program_of, run_vector
from tools.bmv2_target import Bmv2Target

each_vector = pytest.mark.parametrize("vector", VECTORS, ids=name_of)


@each_vector
def test_softswitch_passes_the_vector(vector: Path) -> None:
    with EngineTarget(program_of(vector), sanitize=SANITIZED) as target:
        run_vector(vector, target)


@each_vector
@needs_bmv2
def test_bmv2_passes_the_vector(vector: Path) -> None:
    """BMv2 is the reference that confirms the vector."""
    if name_of(vector) in NOT_ON_BMV2:
        pytest.skip(NOT_ON_BMV2[name_of(vector)])
    skip_what_corrupts_it(program_of(vector))
    with Bmv2Target(program_of(vector)) as target:
        run_vector(vector, target)
