# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tab in a shell: what may stand where the cursor is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from command.listing import words
from reproduction.catalogue import EXPERIMENTS
from scenarios.catalogue import SCENARIOS
from scenarios.schemes import CONGESTION_SUFFIXES, SCHEMES
from topologies.shapes import SHAPES

ROOT = Path(__file__).resolve().parents[2]


def _tab(line: str) -> list[str]:
    """What bash is told of a line that ends where the cursor is."""
    typed = line.split(" ")
    asked = {"_RUNNER.PY_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(typed) - 1)}
    done = subprocess.run(
        [sys.executable, "./runner.py"],
        cwd=ROOT,
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("./runner.py co", ["compare"]),
        ("./runner.py compare by", ["bystanders"]),
        ("./runner.py compare incast --schemes irn,sfc+h", ["irn,sfc+hpcc"]),
    ],
)
def test_a_shell_is_told_what_may_follow(line: str, offered: list[str]) -> None:
    """A verb, a name that stands alone, the last of several."""
    assert _tab(line) == offered


def test_every_table_is_offered_whole() -> None:
    """Each name once; no scheme a second time in a list of them."""
    assert [name for name, _ in words.scenarios_or_all()] == [*SCENARIOS, "all"]
    assert [name for name, _ in words.experiments_or_all()] == [*EXPERIMENTS, "all"]
    assert [name for name, _ in words.topologies()] == list(SHAPES)
    assert [name for name, _ in words.schemes("")] == list(SCHEMES)
    assert [name for name, _ in words.schemes("sfc+")] == [f"sfc+{suffix}" for suffix in CONGESTION_SUFFIXES]
    assert [name for name, _ in words.scheme_lists("irn,s")] == [f"irn,{name}" for name in SCHEMES if name != "irn"]
