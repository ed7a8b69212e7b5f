# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The table of fault kinds. A class is a kind and its fields are its parameters; a new kind needs a class and a row."""

from __future__ import annotations

from collections.abc import Mapping

from sfc_testbed.scenarios.faults.fault import Fault
from sfc_testbed.scenarios.faults.impairments import IMPAIRMENTS
from sfc_testbed.scenarios.faults.links import LinkDown, LinksDown
from sfc_testbed.scenarios.faults.nodes import Stall, SwitchRestart

_KINDS: tuple[type[Fault], ...] = (LinkDown, LinksDown, SwitchRestart, Stall, *IMPAIRMENTS)
FAULTS: Mapping[str, type[Fault]] = {kind.kind: kind for kind in _KINDS}
