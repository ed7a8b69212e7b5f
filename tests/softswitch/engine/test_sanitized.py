# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs the tests of the engine again, with the C built for ASan and UBSan."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz import sanitizers
from tests.softswitch.programs.steered import SANITIZE_VARIABLE

SUITES = ("engine", "traffic_manager", "control", "pipeline", "stf/test_vectors.py")
TESTS = Path(__file__).resolve().parents[1]


@pytest.mark.skipif(SANITIZE_VARIABLE in os.environ, reason="this is the run in the sanitizers")
@pytest.mark.long
def test_engine_suites_pass_in_the_sanitizers() -> None:
    try:
        environment = {**sanitizers.environment(), SANITIZE_VARIABLE: "1"}
    except sanitizers.NoSanitizers as error:
        pytest.skip(str(error))
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *(str(TESTS / s) for s in SUITES)]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout[-8_000:] + process.stderr[-8_000:]
