# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of a switch that does not start; tests/softswitch/mininet tests switches that start."""

from pathlib import Path

import psutil
import pytest

from softswitch.child import SwitchError, SwitchProcess
from softswitch_tests.pipeline.harness import PROGRAMS


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (PROGRAMS / "basic.json", "s1: softswitch: no interface 'nothing'"),
        (Path("nothing.json"), "s1: simple_switch: nothing.json: No such file or directory"),
    ],
)
def test_failed_start_reports_the_reason(
    program: Path, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = psutil.Process().children()
    with pytest.raises(SwitchError) as caught:
        SwitchProcess("s1", ["-i", "1@nothing", str(program)], log=tmp_path / "log")
    assert str(caught.value) == reason
    assert psutil.Process().children() == before
    assert [path.name for path in tmp_path.iterdir()] == ["log"]
