# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A stored calibration: stored for its owner, used only on its machine, and checked when it is read."""

from __future__ import annotations

import json
import os
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from sfc_testbed.testbed.speed.costs import LEAST_WAKEUP_NS, built_in
from sfc_testbed.testbed.speed.stored import MAX_FILE_BYTES, calibration_path, store, stored_calibration
from sfc_testbed.testbed.system.limits import cores
from tests.testbed.speed.calibrations import calibration


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def _replace(**changes: Any) -> None:
    path = store(calibration())
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_without_a_stored_file_the_built_in_costs_are_used() -> None:
    stored = stored_calibration()
    assert (stored.calibration, stored.problem) == (None, None)
    assert stored.costs == built_in(cores())


def test_a_stored_calibration_is_read_again() -> None:
    store(calibration())
    costs = stored_calibration().costs
    assert stored_calibration().calibration == calibration()
    assert costs.origin == "2026-11-22"
    assert costs.latest_wakeup_ns == LEAST_WAKEUP_NS > calibration().wakeups["agent"].p99_ns


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cpu_model": "Z80"}, "was measured on another machine (Z80"),
        ({"kernel": "2.0.0"}, "was measured on another machine"),
        ({"capacity_cores": 0.0}, "is not a calibration of this release (capacity_cores"),
        ({"schema": "sfc-testbed/calibration/0"}, "is not a calibration of this release (schema"),
        ({"runner_share": float("nan")}, "is not a calibration of this release (runner_share"),
        ({"agent": {"frame_ns": 1.0}}, "is not a calibration of this release (agent"),
        ({"switches": {}}, "is not a calibration of this release (switches"),
        ({"measured": "yesterday"}, "is not a calibration of this release (measured"),
        ({"more": 1}, "is not a calibration of this release (more"),
    ],
)
def test_invalid_calibrations_are_ignored(changes: dict[str, Any], words: str) -> None:
    _replace(**changes)
    stored = stored_calibration()
    assert stored.calibration is None
    assert stored.costs == built_in(cores())
    assert stored.problem is not None
    assert stored.problem.startswith(f"{calibration_path()} {words}")
    assert "\n" not in stored.problem


def test_a_change_of_the_code_is_noted() -> None:
    """The figures stay valid, so that editing a congestion control does not trigger a new measurement."""
    _replace(code="0" * 64)
    stored = stored_calibration().calibration
    assert stored is not None
    assert not stored.is_of_this_code


@pytest.mark.parametrize(("minutes", "is_quick", "counts"), [(9, True, True), (11, True, False), (11, False, True)])
def test_a_quick_measurement_of_a_busy_machine_counts_for_ten_minutes(
    minutes: int, is_quick: bool, counts: bool
) -> None:
    measured = datetime.now(tz=timezone.utc) - timedelta(minutes=minutes)
    store(calibration().model_copy(update={"load_before": 1.0, "measured": measured, "is_quick": is_quick}))
    stored = stored_calibration().calibration
    assert stored is not None
    assert stored.is_expired == (not counts)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is not a calibration of this release"),
        (b"[" * 50_000, "is not a calibration of this release"),
        (b"\xff\xfe", "is not UTF-8 text"),
        (b" " * (MAX_FILE_BYTES + 1), f"has more than {MAX_FILE_BYTES} B"),
    ],
)
def test_damaged_files_are_ignored(content: bytes, words: str) -> None:
    path = store(calibration())
    path.write_bytes(content)
    assert stored_calibration().calibration is None
    assert words in str(stored_calibration().problem)


def test_a_pipe_is_not_read() -> None:
    """Reading a pipe would wait forever; other special files are refused too."""
    path = calibration_path()
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    assert "is not a regular file" in str(stored_calibration().problem)


@pytest.mark.root
def test_under_sudo_the_file_belongs_to_the_caller(public_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """File and folders belong to the caller, and a link of the caller does not redirect the write to others' files."""
    home, protected = public_folder / "home", public_folder / "protected"
    home.mkdir()
    os.chown(home, 1234, 1234)
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("SUDO_UID", "1234")
    monkeypatch.setenv("SUDO_GID", "1234")
    path = store(calibration())
    assert {created.stat().st_uid for created in (path, path.parent, path.parent.parent)} == {1234}
    assert stored_calibration().calibration == calibration()
    protected.write_text("root's")
    protected.chmod(0o600)
    path.with_name(f".{path.name}.partial").symlink_to(protected)
    store(calibration())
    assert not path.is_symlink()
    assert protected.read_text() == "root's"
