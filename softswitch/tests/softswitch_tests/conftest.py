# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The mark `root`, and fixtures with a switch that runs the steered program or one of the P4 programs."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from softswitch.engine import SwitchEngine
from softswitch_tests import marks
from softswitch_tests.pipeline.harness import switch_with
from softswitch_tests.programs import steered

marks.use_no_wall_time()
# Processes that tests start use this folder's package too, whichever is installed in the environment.
_PROJECT = Path(__file__).resolve().parents[2]
_FIRST = (str(_PROJECT / "src"), str(_PROJECT / "tests"), os.environ.get("PYTHONPATH"))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, _FIRST))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    marks.skip_without_root(items)


@pytest.fixture
def engine() -> Iterator[SwitchEngine]:
    """Yield a new switch; every port below 510 has a device of unlimited rate and no delay."""
    with SwitchEngine(steered.library()) as switch:
        yield switch


@pytest.fixture
def switch(request: pytest.FixtureRequest) -> Iterator[SwitchEngine]:
    """Yield a new switch that runs the program that a test module names in PROGRAM."""
    with switch_with(request.module.PROGRAM) as engine:
        yield engine
