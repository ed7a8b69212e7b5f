# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the check for a processor that NumPy and polars cannot use, in an emulated one."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys

import pytest

from sfc_testbed.request.processor import missing_instructions
from tests.tree import ROOT

EMULATOR = shutil.which("qemu-x86_64-static") or shutil.which("qemu-x86_64")
emulated = pytest.mark.skipif(
    EMULATOR is None or platform.machine() != "x86_64", reason="qemu-user-static emulates no processor here"
)
RUN = ("run", "incast", "--clock", "virtual", "--duration", "1")


def _on(processor: str, *words: str) -> subprocess.CompletedProcess[str]:
    assert EMULATOR is not None
    command = (EMULATOR, "-cpu", processor, sys.executable, "runner.py", *words)
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_this_processor_has_all_instructions() -> None:
    assert missing_instructions() == []


@emulated
def test_a_processor_of_2008_is_refused_in_one_line() -> None:
    done = _on("core2duo", *RUN)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("runner.py: this processor lacks SSE4.1, SSE4.2, POPCNT, which NumPy and polars need")
    assert done.stderr.count("\n") == 1


@emulated
def test_doctor_names_the_instructions() -> None:
    assert "lacks SSE4.1, SSE4.2, POPCNT" in " ".join(_on("core2duo", "doctor").stdout.split())


@emulated
@pytest.mark.long
def test_a_processor_without_avx_runs_the_testbed(tmp_path: object) -> None:
    done = _on("Nehalem", *RUN, "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "report:" in done.stdout
