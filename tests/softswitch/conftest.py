# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A fixture with a switch that runs the steered program."""

from collections.abc import Iterator

import pytest

from softswitch.engine import SwitchEngine
from tests.softswitch.programs import steered


@pytest.fixture
def engine() -> Iterator[SwitchEngine]:
    """Yield a new switch; every port below 510 has a device of unlimited rate and no delay."""
    with SwitchEngine(steered.library()) as switch:
        yield switch
