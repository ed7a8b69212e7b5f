# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Checks that the data plane's fixed-point numbers can hold the ratios of a run at its dilation."""

from __future__ import annotations

from collections.abc import Iterator

from testbed.control_plane.features import FixedPointError, feature_commands
from testbed.control_plane.prototype import unknown_rate
from testbed.control_plane.settings import SwitchSettings
from testbed.errors import UsageError
from testbed.plan.dilations import MAX_DILATION
from topologies.model import Topology
from wire.dilation import Dilation, next_step


def check_fixed_point(topology: Topology, settings: SwitchSettings, dilation: int) -> None:
    """Raise UsageError unless all ratios fit at this dilation; the message names the nearest fitting dilation."""
    if (refused := unknown_rate(topology, settings)) is not None:
        raise UsageError(refused)
    refused = _refused(topology, settings, dilation)
    if refused is None:
        return
    steps = list(_steps())
    for candidates, word in (
        (reversed([step for step in steps if step < dilation]), "less"),
        ([step for step in steps if step > dilation], "more"),
    ):
        for step in candidates:
            if _refused(topology, settings, step) is None:
                raise UsageError(f"{refused} at dilation {dilation}; use --dilation {step} or {word}")
    raise UsageError(f"{refused}, at any --dilation")


def largest_fitting(topology: Topology, settings: SwitchSettings) -> int:
    """Return the largest dilation at which all ratios fit; 1 if there is none."""
    fitting = (step for step in reversed(list(_steps())) if _refused(topology, settings, step) is None)
    return next(fitting, 1)


def _refused(topology: Topology, settings: SwitchSettings, dilation: int) -> str | None:
    """Return the first ratio that does not fit, as one line; None if all fit."""
    try:
        for switch in topology.switches:
            for _ in feature_commands(topology, switch.name, settings, Dilation(dilation)):
                pass
    except FixedPointError as error:
        return str(error)
    return None


def _steps() -> Iterator[int]:
    """Yield round factors: 1, 2, 3, 5, 7, 10, 15, 20 and so on."""
    step = next_step(1)
    while step <= MAX_DILATION:
        yield step
        step = next_step(step + 1)
