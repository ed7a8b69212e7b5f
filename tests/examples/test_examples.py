# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The examples run and print the results that their texts describe."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.testbed import running

NOT_EXECUTABLE = 126
EXAMPLES = {
    "incast": r"deepest queue of tor2: [1-9]\d* bytes\n(h\d: .* us, slowdown [\d.]+\n){7}[1-9]\d* of [1-9]\d* BTS were",
    "broken_link": r"link is down: False\ndone now: True\n[1-9]\d* packets were sent again",
    "compare_schemes": r"irn: at most (\d+) KB in tor2\ningress-bts: at most (\d+) KB in tor2\nsfc: at most (\d+) KB",
}


def _run(name: str, folder: Path, *before: str) -> subprocess.CompletedProcess[str]:
    """Run an example from a folder outside the tree."""
    command = [*before, sys.executable, str(running.ROOT / "examples" / f"{name}.py")]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=200)


@running.needs_mininet
@pytest.mark.parametrize("name", EXAMPLES)
def test_example_prints_its_result_and_leaves_nothing_behind(name: str, tmp_path: Path) -> None:
    before = running.remains()
    done = _run(name, tmp_path)
    assert done.returncode == 0, done.stderr
    match = re.search(EXAMPLES[name], done.stdout)
    assert match, done.stdout
    if name == "compare_schemes":
        irn, ingress, sfc = map(int, match.groups())
        assert 0 < sfc < ingress < irn
        assert sfc < 0.6 * irn
    assert running.left_since(before) == {}


@running.needs_mininet
def test_script_of_the_page_runs_in_any_folder(tmp_path: Path) -> None:
    """The environment's Python needs no path to the tree."""
    [script] = re.findall(r"```python\n(.*?)```", (running.ROOT / "docs" / "prompt.md").read_text(), re.DOTALL)
    (tmp_path / "mine.py").write_text(script)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "mine.py"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=200
    )
    assert done.returncode == 0, done.stderr
    queues, slowdowns = done.stdout.splitlines()
    assert "QueueDepth(switch='tor2', " in queues
    assert re.fullmatch(r"\[[\d.]+(, [\d.]+){6}\]", slowdowns)


@pytest.mark.skipif(importlib.util.find_spec("mininet") is None, reason="Mininet is not installed")
@pytest.mark.parametrize("name", EXAMPLES)
def test_example_without_root_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    """A user namespace without a mapping takes the privileges of root away."""
    done = _run(name, tmp_path, *(["unshare", "--user"] if os.geteuid() == 0 else []))
    if done.returncode == NOT_EXECUTABLE:
        pytest.skip("only the owner of this tree may read it")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(f"{name}.py: a live network needs root: not root; use sudo\n")
    assert len(done.stderr.splitlines()) == 1


def test_table_contains_every_example() -> None:
    assert {path.stem for path in (running.ROOT / "examples").glob("[a-z]*.py")} == set(EXAMPLES)
