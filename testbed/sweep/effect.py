# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What decides a run, as a digest: equal for requests that differ only in what their scheme does not read.

Settings of switches count by the entries that they become, so that the threshold of a mechanism that is off counts for
nothing; settings of a workload by their flows, and all the others as the run resolved them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import astuple

from testbed.plan.plan import RunPlan, RunRequest
from testbed.plan.request import NETWORK_DILATION
from topologies.commands import settings_commands
from topologies.features import FixedPointError
from wire.dilation import Dilation

_COUNTED_OTHERWISE = {"switch_settings", "workload", "thresholds_bytes"}
_DECIDES_NOTHING = {"command", "versions"}
_BY_CONTENT = {"program"}
"""What was given counts by its content; the testbed's own program is told apart as its other code is."""
_OF_THIS_MACHINE = {"dilation", "dilation_given", "dilation_choice"}
"""A live run's D follows from how fast the machine is, unless it was asked for."""


def effect_digest(request: RunRequest, plan: RunPlan) -> str:
    """Hexadecimal."""
    left_out = _COUNTED_OTHERWISE | _DECIDES_NOTHING | _BY_CONTENT | _OF_THIS_MACHINE
    told = {"asked_dilation": request.dilation, **plan.config.model_dump(mode="json", exclude=left_out)}
    if request.program is not None:
        told["program_sha256"] = request.program.sha256
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
    for flow in plan.flows:
        digest.update(repr(astuple(flow)).encode())
    for line in _entries(request, plan):
        digest.update(f"{line}\n".encode())
    return digest.hexdigest()


def _entries(request: RunRequest, plan: RunPlan) -> Iterator[str]:
    is_given = request.clock == "virtual" or request.dilation is not None
    try:
        yield from _entries_at(plan, plan.dilation if is_given else Dilation(NETWORK_DILATION))
    except FixedPointError:
        yield from _entries_at(plan, plan.dilation)


def _entries_at(plan: RunPlan, dilation: Dilation) -> list[str]:
    switches = [each.name for each in plan.topology.switches]
    return [
        line for name in switches for line in settings_commands(plan.topology, name, plan.switch_settings, dilation)
    ]
