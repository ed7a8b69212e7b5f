# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A switch that does not start; those that do: tests/softswitch/mininet."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from softswitch.child import SwitchError, SwitchProcess
from tests.softswitch.pipeline.harness import PROGRAMS


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (PROGRAMS / "basic.json", "s1: softswitch: no interface 'nothing'"),
        (Path("nothing.json"), "s1: simple_switch: [Errno 2] No such file or directory: 'nothing.json'"),
    ],
)
def test_a_switch_that_does_not_start_says_why(
    program: Path, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one line with its name, and leaves neither process nor file but the log that was asked for."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = psutil.Process().children()
    with pytest.raises(SwitchError) as caught:
        SwitchProcess("s1", ["-i", "1@nothing", str(program)], log=tmp_path / "log")
    assert str(caught.value) == why
    assert psutil.Process().children() == before
    assert [path.name for path in tmp_path.iterdir()] == ["log"]
