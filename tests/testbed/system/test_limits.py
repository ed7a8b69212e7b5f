# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for limits: open files are raised if allowed, and every error that comes from a limit names it."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pytest

from sfc_testbed.testbed.system import limits
from sfc_testbed.testbed.system.limits import idle_cores, out_of_room
from tests.testbed.running import command, outcome_of

VIRTUAL = ("run", "incast", "--clock", "virtual", "--set", "degree=2", "--set", "message_bytes=2000", "--out", "runs")


def _limited(limit: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a small incast under a limit that the shell sets."""
    script = f'ulimit {limit} && exec "$@"'
    environment = {"PYTHONPATH": os.environ["PYTHONPATH"], "PATH": "/usr/bin:/bin", "HOME": str(Path.home())}
    return outcome_of(["bash", "-c", script, "bash", *command(*VIRTUAL)], cwd=folder, env=environment)


def test_a_limit_of_open_files_that_is_too_low_is_named_before_anything_is_created(tmp_path: Path) -> None:
    done = _limited("-n 16", tmp_path)
    assert done.returncode == 2, done.stderr
    [line] = done.stderr.splitlines()
    assert "ulimit -n: 16 open files (at most 16); the run needs 40; raise the hard limit as root" in line
    assert done.stdout == ""
    assert not list(tmp_path.iterdir())


def test_a_soft_limit_of_open_files_is_raised(tmp_path: Path) -> None:
    done = _limited("-S -n 16", tmp_path)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("runs/*/report.html"))


def _raised(inner: Exception, outer: Exception) -> Exception:
    try:
        try:
            raise inner
        except Exception as error:
            raise outer from error
    except Exception as error:
        return error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.ENOSPC, "full"), "free on the file system of"),
        (OSError(errno.EDQUOT, "quota"), "quota exceeded"),
        (OSError(errno.EMFILE, "many"), "ulimit -n"),
        (OSError(errno.ENFILE, "many"), "fs.file-max"),
        (OSError(errno.EFBIG, "big"), "ulimit -f"),
        (OSError(errno.ENOMEM, "none"), "no memory left"),
        (MemoryError(), "no memory left"),
        (OSError(errno.EAGAIN, "fork"), "ulimit -u"),
        (ValueError("parquet: underlying IO error: No space left on device (os error 28)"), "no room left"),
        (ValueError("unwrap() on an Err value: Os { code: 24, kind: TooManyOpenFiles }"), "ulimit -n"),
        (_raised(OSError(errno.ENOSPC, "full"), KeyError("x")), "no room left"),
    ],
    ids=repr,
)
def test_the_limit_is_named(error: Exception, expected: str, tmp_path: Path) -> None:
    """The limit follows from the error number, from the text, or from the cause of the error."""
    message = out_of_room(error, [tmp_path])
    assert message is not None
    assert expected in message
    assert message.isprintable()


@pytest.mark.parametrize(
    "error",
    [OSError(errno.EACCES, "no"), OSError("no number"), ValueError("28"), RuntimeError("thread"), KeyError(28)],
    ids=repr,
)
def test_other_errors_give_no_message(error: Exception) -> None:
    assert out_of_room(error) is None


def test_the_message_names_the_file_system_of_the_file_in_the_error(tmp_path: Path) -> None:
    """If the file does not exist, its closest existing folder is named."""
    error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(tmp_path / "gone" / "file"))
    assert f"B free on the file system of {tmp_path} (No space left" in str(out_of_room(error))


@pytest.mark.parametrize(
    ("running", "quota", "idle"),
    [("1/90", "max 100000", 8), ("6/90", "max 100000", 3), ("40/90", "max 100000", 1), ("1/90", "250000 100000", 2)],
)
def test_cores_are_idle_unless_processes_or_quotas_take_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, running: str, quota: str, idle: int
) -> None:
    """One of the running processes is this one. A control group limits the groups in it."""
    files = {"/proc/loadavg": f"1.00 1.00 1.00 {running} 123\n", "/proc/self/cgroup": "4:memory:/x\n0::/slice/run\n"}
    (tmp_path / "slice" / "run").mkdir(parents=True)
    (tmp_path / "slice" / "cpu.max").write_text(f"{quota}\n")
    read_text = Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda path, **options: files.get(str(path)) or read_text(path, **options))
    monkeypatch.setattr(limits, "_CGROUPS", tmp_path)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    assert idle_cores() == idle
