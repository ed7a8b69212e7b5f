# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for shell completion."""

from __future__ import annotations

import os

import pytest

from sfc_testbed.cli.listing import words
from sfc_testbed.reproduction.catalogue import EXPERIMENTS
from sfc_testbed.request.schemes import RATE_CONTROLS, SCHEMES
from sfc_testbed.scenarios.catalogue import SCENARIOS
from sfc_testbed.topologies.shapes import SHAPES
from tests.testbed import running


def _tab(line: str) -> list[str]:
    """Return the completions that bash gets for a line with the cursor at its end."""
    typed = line.split(" ")
    variables = {"_RUNNER.PY_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(typed) - 1)}
    done = running.run(env={**os.environ, **variables})
    assert done.returncode == 0
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("./runner.py comp", ["compare", "compile"]),
        ("./runner.py compare by", ["bystanders"]),
        ("./runner.py compare incast --schemes irn,sfc+h", ["irn,sfc+hpcc"]),
    ],
)
def test_verbs_names_and_the_last_name_of_a_list_are_completed(line: str, offered: list[str]) -> None:
    assert _tab(line) == offered


def test_all_names_of_a_table_are_offered() -> None:
    assert [name for name, _ in words.scenarios_or_all()] == [*SCENARIOS, "all"]
    assert [name for name, _ in words.experiments_or_all()] == [*EXPERIMENTS, "all"]
    assert [name for name, _ in words.topologies()] == list(SHAPES)
    assert [name for name, _ in words.schemes("")] == list(SCHEMES)
    assert [name for name, _ in words.schemes("sfc+")] == [f"sfc+{suffix}" for suffix in RATE_CONTROLS]
    assert [name for name, _ in words.scheme_lists("irn,s")] == [f"irn,{name}" for name in SCHEMES if name != "irn"]
