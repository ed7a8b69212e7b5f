# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The table of scenarios."""

from __future__ import annotations

from collections.abc import Mapping

from scenarios import incast
from scenarios.scenario import Scenario

SCENARIOS: Mapping[str, Scenario] = {scenario.name: scenario for scenario in (incast.SCENARIO,)}
