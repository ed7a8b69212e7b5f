# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the table of switch targets."""

from __future__ import annotations

from pkgutil import resolve_name

from testbed.plan.switch_targets import SWITCH_TARGETS
from testbed.targets.bmv2.target import Bmv2Target
from testbed.targets.common.target import Target
from testbed.targets.softswitch import SoftswitchTarget

CLASSES: dict[str, type[Target]] = {"soft": SoftswitchTarget, "bmv2": Bmv2Target}


def test_every_target_names_its_class() -> None:
    assert {name: resolve_name(target.implementation) for name, target in SWITCH_TARGETS.items()} == CLASSES
