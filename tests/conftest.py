# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What the mark `root` means: a test says by it alone that it needs root, so that `-m "not root"` finds all others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from testbed.load.stored import store
from tests.testbed.load.calibrations import built_in_calibration


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without root, marked tests skip."""
    if os.geteuid() != 0:
        for item in items:
            if item.get_closest_marker("root"):
                item.add_marker(pytest.mark.skip(reason="needs root"))


@pytest.fixture(scope="session")
def _usual_state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder whose calibration has the built-in costs: live runs of tests need not measure first."""
    folder = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder))
        store(built_in_calibration())
    return folder


@pytest.fixture(autouse=True)
def _calibration_of_tests(_usual_state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide this machine's own calibration from every test."""
    monkeypatch.setenv("XDG_STATE_HOME", str(_usual_state))
