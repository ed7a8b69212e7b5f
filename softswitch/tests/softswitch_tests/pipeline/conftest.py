# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A fixture with a new switch that runs the program that a test module names in PROGRAM."""

from collections.abc import Iterator

import pytest

from softswitch.engine import SwitchEngine
from softswitch_tests.pipeline.harness import switch_with


@pytest.fixture
def switch(request: pytest.FixtureRequest) -> Iterator[SwitchEngine]:
    with switch_with(request.module.PROGRAM) as engine:
        yield engine
