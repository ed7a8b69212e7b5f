# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of tools/progress.sh, the functions that announce long steps of the set-up."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

PROGRESS = Path(__file__).resolve().parents[2] / "tools" / "progress.sh"


def _run(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script that can call the functions, with `folder` first on the PATH."""
    text = f"set -euo pipefail\nas_root=()\n. {PROGRESS}\n{script}\n"
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "TMPDIR": str(folder), **variables}
    return subprocess.run(
        ["bash", "-c", text], env=environment, capture_output=True, text=True, check=False, timeout=60
    )


def _stub(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/bash\n{script}\n")
    path.chmod(0o755)


def test_a_step_that_succeeds_prints_its_announcement_alone(tmp_path: Path) -> None:
    done = _run('or_end "installing things" bash -c "echo noise; echo Failed to stop iperf3.service >&2"', tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "installing things\n", "")


def test_a_step_that_fails_prints_its_output_and_ends_the_script(tmp_path: Path) -> None:
    done = _run('or_end "installing things" bash -c "echo no room >&2; exit 5"; echo went on', tmp_path)
    assert (done.returncode, done.stdout) == (5, "installing things\n")
    assert done.stderr == "no room\nfailed: installing things\n"


def test_a_long_step_prints_its_latest_line(tmp_path: Path) -> None:
    """The command ends once the report has appeared, so that no time is assumed."""
    script = f"""
        wait_for_report() {{ echo "unpacking numpy"; until grep -q unpacking {tmp_path}/screen; do :; done; }}
        or_end "installing things" wait_for_report > {tmp_path}/screen
        cat {tmp_path}/screen"""
    done = _run(script, tmp_path, PROGRESS_SECONDS="0.05")
    assert done.returncode == 0, done.stderr
    first, second, *_ = done.stdout.splitlines()
    assert first == "installing things"
    assert second.endswith(" s: unpacking numpy")


def test_apt_is_tried_again_while_its_lists_are_locked(tmp_path: Path) -> None:
    _stub(tmp_path, "sleep", ":")
    locked = 'echo "E: Could not get lock /var/lib/apt/lists/lock" >&2; exit 100'
    _stub(tmp_path, "apt-get", f"[ -e {tmp_path}/second ] || {{ touch {tmp_path}/second; {locked}; }}; echo done")
    done = _run("apt_get update", tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines()[1:] == ["waiting for another process that uses apt", "done"]


def test_another_failure_of_apt_is_returned_at_once(tmp_path: Path) -> None:
    _stub(tmp_path, "apt-get", 'echo "E: Unable to locate package" >&2; exit 100')
    done = _run("apt_get install x || echo status $?", tmp_path)
    assert done.stdout.splitlines() == ["E: Unable to locate package", "status 100"]


def test_a_step_that_ends_at_once_leaves_the_exit_trap_to_the_script(tmp_path: Path) -> None:
    """The trap removes the folder that the next step writes to."""
    script = """
        trap 'echo trapped' EXIT
        for i in {1..300}; do with_progress "step" /dev/null true; done"""
    done = _run(script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["step"] * 300 + ["trapped"]
