# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The class of each switch target. `testbed.plan.switch_targets` has the properties that a plan needs."""

from __future__ import annotations

from collections.abc import Mapping

from sfc_testbed.testbed.targets.bmv2.target import Bmv2Target
from sfc_testbed.testbed.targets.common.target import Target
from sfc_testbed.testbed.targets.softswitch import SoftswitchTarget

TARGETS: Mapping[str, type[Target]] = {"soft": SoftswitchTarget, "bmv2": Bmv2Target}
"""The class by the target's name, which is also its name in `SWITCH_TARGETS`."""
