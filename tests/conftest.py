# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The mark `root`, the calibration that all tests use, and the check that the command refuses arguments."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sfc_testbed.cli.app import main
from sfc_testbed.testbed.speed.stored import store
from softswitch_tests import marks
from tests.extended import nothing_remains
from tests.testbed.speed.calibrations import built_in_calibration
from tests.tree import ROOT

if TYPE_CHECKING:
    from tests.analysis.report.browser import Browser

Refused = Callable[[Sequence[object], str], None]
LONGEST_LINE = 600
# Processes that tests start use this tree's softswitch too, whichever is installed in the environment.
_FIRST = (str(ROOT / "softswitch" / "src"), str(ROOT / "softswitch" / "tests"), os.environ.get("PYTHONPATH"))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, _FIRST))
marks.use_no_wall_time()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    marks.skip_without_root(items)


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


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Refused:
    """Return a check that the command refuses arguments in one line that has a text, and changes no folder."""
    monkeypatch.chdir(tmp_path)

    def check(words: Sequence[object], expected: str) -> None:
        capsys.readouterr()
        paths_before = sorted(tmp_path.rglob("*"))
        status = main([*map(str, words)])
        output = capsys.readouterr()
        assert (status, output.out) == (2, ""), output
        assert len(output.err.splitlines()) == 1, output.err
        assert expected in output.err
        assert len(output.err) < LONGEST_LINE
        assert output.err.rstrip("\n").isprintable()
        assert sorted(tmp_path.rglob("*")) == paths_before

    return check


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Return a browser for one module. Its event loop runs in this thread, so no other loop can run meanwhile."""
    from tests.analysis.report.browser import CHROMIUM, opened_browser  # looks for a browser that starts

    if not CHROMIUM:
        pytest.skip("no working Chromium on the PATH")
    with opened_browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture
def no_extensions() -> Iterator[None]:
    """Unload, after the test, all extensions that it has loaded."""
    with nothing_remains():
        yield


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """Create a folder that every user may use like /tmp, unlike pytest's temporary folders."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o1777)
        yield Path(name)
