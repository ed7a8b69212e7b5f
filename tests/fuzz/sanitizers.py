# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs tests in a process that can hold C built for ASan and UBSan."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from softswitch_tests.programs.steered import SANITIZE_VARIABLE


def run_in_sanitizers(*words: str | Path) -> None:
    """Run pytest with these words in such a process, which must succeed; skip if the compiler has no sanitizers."""
    compiler = os.environ.get("CC", "cc")
    libraries = []
    for name in ("libasan.so", "libubsan.so"):
        question = [compiler, f"-print-file-name={name}"]
        libraries.append(subprocess.run(question, capture_output=True, text=True, check=True).stdout.strip())
        if not Path(libraries[-1]).is_absolute():
            pytest.skip(f"{compiler} has no {name}")
    environment = {
        **os.environ,
        SANITIZE_VARIABLE: "1",
        "LD_PRELOAD": " ".join(libraries),
        # The interpreter frees memory only at its end. Leaks of the switch are checked in the switch's own process.
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-8_000:]
