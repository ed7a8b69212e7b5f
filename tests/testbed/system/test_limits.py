# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for `ulimit` settings: limits are raised if allowed, else one line names the limit and nothing is created."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.testbed.running import ROOT

VIRTUAL = ("run", "incast", "--clock", "virtual", "--set", "degree=2", "--set", "message_bytes=2000", "--out", "runs")
PATIENCE_S = 120


def _limited(limit: str, words: tuple[str, ...], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python under a limit that the shell sets."""
    assert all(part.isalnum() or part.startswith("-") for part in limit.split())
    script = f'ulimit {limit} && exec "$@"'
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(Path.home())}
    return subprocess.run(
        ["bash", "-c", script, "bash", sys.executable, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("-n 16", "ulimit -n: 16 open files (at most 16); the run needs 40"),
        ("-v 400000", "ulimit -v: 400000 kB of address space; about"),
        ("-f 100", "ulimit -f: files of at most 102400 B; the run needs about 300000 B"),
        ("-s 100", "ulimit -s: 100 kB of stack; 128 kB are needed"),
        ("-t 1", "ulimit -t: 1 s of processor time"),
    ],
)
def test_a_limit_that_is_too_low_is_named_before_anything_is_created(limit: str, expected: str, tmp_path: Path) -> None:
    done = _limited(limit, (str(ROOT / "runner.py"), *VIRTUAL), tmp_path)
    assert done.returncode == 2, done.stderr
    [line] = done.stderr.splitlines()
    assert expected in line
    assert done.stdout == ""
    assert not list(tmp_path.iterdir())


def test_a_soft_limit_of_open_files_is_raised(tmp_path: Path) -> None:
    done = _limited("-S -n 16", (str(ROOT / "runner.py"), *VIRTUAL), tmp_path)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("runs/*/report.html"))


def test_list_works_with_little_address_space(tmp_path: Path) -> None:
    """`list` imports none of the libraries that reserve much address space."""
    done = _limited("-v 400000", (str(ROOT / "runner.py"), "list"), tmp_path)
    assert done.returncode == 0, done.stderr
    assert "incast" in done.stdout


BUSY = """
from testbed.errors import RunError
from testbed.system.limits import hear_processor_time
hear_processor_time()
try:
    while True:
        pass
except RunError as error:
    print(error)
"""


def test_the_end_of_processor_time_is_reported(tmp_path: Path) -> None:
    """The report comes while some time is left, because the kernel kills the process at the limit."""
    done = _limited("-t 3", ("-c", BUSY), tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ulimit -t: the processor time of this process is used up")


def test_the_required_open_files_depend_on_the_plan(tmp_path: Path) -> None:
    """The plan has 48 hosts on the real clock and is not executed."""
    script = (
        "from pathlib import Path\n"
        "from testbed.errors import UsageError\n"
        "from testbed.execution.room import check_room\n"
        "from testbed.plan.plan import RunSpec, plan_run\n"
        "settings = ('topology.tors=4', 'topology.hosts_per_tor=12', 'degree=36', 'message_bytes=2000')\n"
        "plan = plan_run(RunSpec('incast', switch='soft', dilation=10000, settings=settings))\n"
        "try:\n"
        "    check_room([plan], Path('runs'))\n"
        "except UsageError as error:\n"
        "    print(error)\n"
    )
    done = _limited("-n 64", ("-c", script), tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ulimit -n: 64 open files (at most 64); the run needs 1")
