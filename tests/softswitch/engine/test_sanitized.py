# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The tests of the engine once more, with the C built for ASan and UBSan."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.softswitch.programs.steered import SANITIZE_VARIABLE

SUITES = ("engine", "traffic_manager", "control", "pipeline", "stf/test_vectors.py")
TESTS = Path(__file__).resolve().parents[1]


def runtime(name: str) -> str:
    """The sanitizer's own library, as the compiler knows it."""
    compiler = os.environ.get("CC", "cc")
    done = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    path = Path(done.stdout.strip())
    if not path.is_absolute():
        pytest.skip(f"{compiler} has no {name}")
    return str(path)


@pytest.mark.skipif(SANITIZE_VARIABLE in os.environ, reason="this is the run in the sanitizers")
def test_engine_suites_pass_in_the_sanitizers() -> None:
    """No bad access and no undefined behaviour in any of them."""
    environment = {
        **os.environ,
        SANITIZE_VARIABLE: "1",
        "LD_PRELOAD": f"{runtime('libasan.so')} {runtime('libubsan.so')}",
        # The interpreter keeps memory to the end; leaks of the switch are looked for in the process tests.
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *(str(TESTS / s) for s in SUITES)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-8_000:]
