# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The mark `root`, with which a test declares that it needs root, and the calibration that all tests use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from testbed.load.stored import store
from tests.testbed.load.calibrations import built_in_calibration


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests marked `root` for other users."""
    if os.geteuid() != 0:
        for item in items:
            if item.get_closest_marker("root"):
                item.add_marker(pytest.mark.skip(reason="needs root"))


@pytest.fixture(scope="session")
def _usual_state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a state folder with a calibration of the built-in costs, so that live runs need not measure first."""
    folder = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder))
        store(built_in_calibration())
    return folder


@pytest.fixture(autouse=True)
def _calibration_of_tests(_usual_state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use that state folder instead of this machine's calibration in every test."""
    monkeypatch.setenv("XDG_STATE_HOME", str(_usual_state))
