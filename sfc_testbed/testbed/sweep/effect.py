# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A digest of everything that determines a run. Requests that differ only in unused settings have the same digest.

Switch settings count by the table entries that they become. The threshold of a disabled mechanism therefore has no
effect. Workload settings count by their flows, and all other settings as the run resolved them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import astuple

from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.control_plane.commands import settings_commands
from sfc_testbed.testbed.control_plane.entries import Command
from sfc_testbed.testbed.control_plane.fixed_point import FixedPointError
from sfc_testbed.testbed.plan.dilations import NETWORK_DILATION
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.wire.dilation import Dilation

_COUNTED_OTHERWISE = {
    *("switch_settings", "workload", "thresholds_bytes", "settings", "program_settings", "load_balancing")
}
_DECIDES_NOTHING = {"command", "versions"}
_BY_CONTENT = {"program", "uses", "network_file"}
"""Settings that count by content. The testbed's own P4 program is part of the digest of the code."""
_OF_THIS_MACHINE = {"dilation", "dilation_given", "dilation_choice"}
"""Settings that depend on the machine's speed: the dilation of a live run, unless it was requested."""


def effect_digest(request: RunSpec, plan: RunPlan) -> str:
    """Return the digest of a run, in hexadecimal."""
    excluded = _COUNTED_OTHERWISE | _DECIDES_NOTHING | _BY_CONTENT | _OF_THIS_MACHINE
    resolved = {name: value for name, value in plan.config.as_dict().items() if name not in excluded}
    settings = {"asked_dilation": request.dilation, **resolved}
    if request.program is not None:
        settings["program_sha256"] = request.program.sha256
    if request.network_file is not None:
        settings["network_sha256"] = request.network_file.sha256
    settings["uses"] = [extension.sha256 for extension in request.uses]
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for flow in plan.flows:
        digest.update(repr(astuple(flow)).encode())
    for command in _entries(request, plan):
        digest.update(f"{command}\n".encode())
    return digest.hexdigest()


def _entries(request: RunSpec, plan: RunPlan) -> Iterator[Command]:
    is_fixed = request.clock == "virtual" or request.dilation is not None
    try:
        yield from _entries_at(plan, plan.dilation if is_fixed else Dilation(NETWORK_DILATION))
    except FixedPointError:
        yield from _entries_at(plan, plan.dilation)


def _entries_at(plan: RunPlan, dilation: Dilation) -> list[Command]:
    return [
        command
        for switch in plan.topology.switches
        for command in (
            *settings_commands(plan.topology, switch.name, plan.switch_settings, dilation),
            *plan.more_entries(switch.name, dilation),
        )
    ]
