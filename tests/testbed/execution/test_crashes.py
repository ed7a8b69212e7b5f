# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs with a congestion control that raises an exception: verdict, terminal and page say in which class and line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.changes.change import Change, copy_of_tree, environment_of
from tests.testbed.running import NEEDS_MININET, outcome_of

CRASHING = Change(
    "congestion control",
    {
        "hosts/transport/congestion/crashing.py": '''"""Divides by zero at the third acknowledgement."""

from sfc_testbed.hosts.transport.congestion.base import AckSample, CongestionControl


class Crashing(CongestionControl):
    """Counts down."""

    __slots__ = ("left",)

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        self.left = getattr(self, "left", 3) - 1
        self.window_bytes = self.path.bdp_bytes // self.left
'''
    },
    {
        "hosts/transport/congestion/__init__.py": {
            '        "dcqcn":': '        "crashing": "crashing:Crashing",\n',
        },
        "sfc_testbed/request/schemes.py": {
            '    RateControl("window"': (
                '    RateControl("crashing", "divides by zero", {"congestion": "crashing"}),\n'
            )
        },
    },
    (),
    "",
)
CRASH = "Crashing.on_ack raised ZeroDivisionError: .* (hosts/transport/congestion/crashing.py:15)"
WORDS = ("--set", "degree=2", "--set", "message_bytes=20000")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = copy_of_tree(tmp_path_factory.mktemp("crashing"))
    CRASHING.apply(copy)
    return copy


def _runner(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return outcome_of([sys.executable, "runner.py", *words], cwd=tree, env=environment_of(tree))


@pytest.mark.parametrize(
    "clock",
    [
        ("--clock", "virtual"),
        ("--clock", "virtual", "--workers", "2"),
        pytest.param(("--dilation", "10000"), marks=NEEDS_MININET),
    ],
    ids=" ".join,
)
def test_a_run_says_what_its_congestion_control_raised(tree: Path, tmp_path: Path, clock: tuple[str, ...]) -> None:
    words = ("--scheme", "irn+crashing", *clock, *WORDS, "--out", str(tmp_path), "--json")
    done = _runner(tree, "run", "incast", *words)
    assert done.returncode == 3, done.stderr
    result = json.loads(done.stdout)
    assert result["verdict"] == "invalid"
    crash = re.escape(CRASH).replace(r"\.\*", ".*")
    assert re.search(crash, result["verdict_reasons"][0])
    assert not any("killed" in reason or "No packet" in reason for reason in result["verdict_reasons"])
    [folder] = tmp_path.iterdir()
    assert re.search(crash, (folder / "report.html").read_text())
    again = _runner(tree, "report", str(folder))
    assert again.returncode == 3
    assert re.search(crash, " ".join(again.stdout.split()))


def test_a_comparison_goes_on_after_a_crash(tree: Path, tmp_path: Path) -> None:
    words = ("--schemes", "irn,irn+crashing,sfc", "--clock", "virtual", *WORDS, "--out", str(tmp_path), "--json")
    done = _runner(tree, "compare", "incast", *words)
    assert done.returncode == 3, done.stderr
    comparison = json.loads(done.stdout)
    assert [row["verdict"] for row in comparison["rows"]] == ["faithful", "invalid", "faithful"]
    assert any("Crashing.on_ack raised ZeroDivisionError" in warning for warning in comparison["warnings"])
