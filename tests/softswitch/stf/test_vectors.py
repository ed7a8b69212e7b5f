# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs the same packet tests on softswitch and on BMv2."""

from pathlib import Path

import pytest

from softswitch.stf.engine_target import EngineTarget
from softswitch_tests.programs.steered import SANITIZED
from tests.softswitch.stf import bmv2
from tests.softswitch.stf.vectors import VECTORS, name_of, program_of, run_vector

each_vector = pytest.mark.parametrize("vector", VECTORS, ids=name_of)


@each_vector
def test_softswitch_passes_the_vector(vector: Path) -> None:
    with EngineTarget(program_of(vector), sanitize=SANITIZED) as target:
        run_vector(vector, target)


@each_vector
@pytest.mark.skipif(bmv2.missing() is not None, reason=str(bmv2.missing()))
def test_bmv2_passes_the_vector(vector: Path) -> None:
    """BMv2 is the reference that confirms the vector."""
    bmv2.skip_what_corrupts_it(program_of(vector))
    with bmv2.Bmv2Target(program_of(vector)) as target:
        run_vector(vector, target)
