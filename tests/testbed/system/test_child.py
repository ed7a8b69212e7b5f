# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the child processes of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.system.child import RunChild


@pytest.mark.parametrize(("make", "reason"), [(Path.mkdir, "Permission denied"), (None, "No such file or directory")])
def test_a_program_that_cannot_be_started_is_named(make: object, reason: str, tmp_path: Path) -> None:
    """The cache with the program may have been emptied, for example."""
    program = tmp_path / "switch"
    if callable(make):
        make(program)
    with pytest.raises(RunError, match=f"^tor1 cannot be started: {program}: {reason}$"):
        RunChild("tor1", [str(program)], "id", tmp_path / "log")
