# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The classes keep the testbed's contracts, and the claim of the project holds. Runs are simulated."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import sfc_testbed as sfc

COMMAND = Path(sys.executable).with_name("sfc-testbed")
MODULES = ("your_project.control", "your_project.workload", "your_project.topology", "your_project.plot")
CLAIM = sfc.Ratio(
    "SFC keeps the buffer small under +target",
    "at most 80 %",
    sfc.PEAK_BUFFER,
    scheme="sfc+target",
    base="irn+target",
    at_most=0.8,
)


def test_modules_keep_the_contracts() -> None:
    done = subprocess.run([COMMAND, "check", *MODULES], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_claim_holds(tmp_path: Path) -> None:
    comparison = sfc.compare("training", ["irn+target", "sfc+target"], claims=[CLAIM], out=tmp_path)
    assert [claim for claim in comparison.claims if not claim.holds] == []


def test_all_steps_end(tmp_path: Path) -> None:
    run = sfc.run("training", "sfc+target", settings={"steps": 3}, out=tmp_path)
    assert run.quantities["job-time"] is not None
    assert "messages" in run.plot()
