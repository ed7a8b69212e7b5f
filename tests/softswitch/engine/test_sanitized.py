# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs the tests of the engine again, with the C built for ASan and UBSan."""

from pathlib import Path

import pytest

import softswitch_tests
from softswitch_tests.programs.steered import SANITIZED
from tests.fuzz.sanitizers import run_in_sanitizers

OWN_TESTS = Path(softswitch_tests.__file__).parent
SUITES = (
    *(OWN_TESTS / name for name in ("engine", "traffic_manager", "control", "pipeline")),
    Path(__file__).resolve().parents[1] / "stf" / "test_vectors.py",
)


@pytest.mark.skipif(SANITIZED, reason="this is the run in the sanitizers")
@pytest.mark.long
@pytest.mark.timeout(900)  # with an empty cache, every program is compiled with the sanitizers
def test_engine_suites_pass_in_the_sanitizers() -> None:
    run_in_sanitizers(*SUITES)
