# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The commands of a run's switches at a dilation at which the data plane's fixed-point numbers hold all ratios."""

from __future__ import annotations

from collections.abc import Iterator

from sfc_testbed.testbed.control_plane.commands import MoreEntries, SwitchCommands, network_commands, no_entries
from sfc_testbed.testbed.control_plane.fixed_point import FixedPointError
from sfc_testbed.testbed.control_plane.prototype import unknown_rate
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.plan.dilations import MAX_DILATION
from sfc_testbed.topologies.model import Topology
from sfc_testbed.wire.dilation import Dilation, next_step


def commands_at(
    topology: Topology, settings: SwitchSettings, dilation: Dilation, seed: int, more: MoreEntries = no_entries
) -> SwitchCommands:
    """Return the commands of all switches, if all ratios fit at this dilation.

    Raise UsageError otherwise; the message names the nearest fitting dilation.
    """
    _check_rates(topology, settings)
    try:
        return network_commands(topology, settings, dilation, seed=seed, more=more)
    except FixedPointError as error:
        nearest, _ = commands_near(topology, settings, dilation, seed, more)
        word = "less" if nearest.factor < dilation.factor else "more"
        limit = f"at dilation {dilation.factor}; use --dilation {nearest.factor} or {word}"
        raise UsageError(f"{error} {limit}") from error


def commands_near(
    topology: Topology, settings: SwitchSettings, dilation: Dilation, seed: int, more: MoreEntries = no_entries
) -> tuple[Dilation, SwitchCommands]:
    """Return the largest fitting dilation up to this one, or else the smallest one above it, and its commands.

    Raise UsageError if the ratios fit at no dilation.
    """
    _check_rates(topology, settings)
    refused = ""
    for factor in _nearest(dilation.factor):
        try:
            return Dilation(factor), network_commands(topology, settings, Dilation(factor), seed=seed, more=more)
        except FixedPointError as error:
            refused = refused or str(error)
    raise UsageError(f"{refused}, at any --dilation")


def _check_rates(topology: Topology, settings: SwitchSettings) -> None:
    refused = unknown_rate(topology, settings)
    if refused is not None:
        raise UsageError(refused)


def _nearest(factor: int) -> Iterator[int]:
    """Yield a factor, then all smaller round factors (1, 2, 3, 5, 7, 10, 15, 20 and so on), then all larger ones."""
    yield factor
    steps = [next_step(1)]
    while steps[-1] < MAX_DILATION:
        steps.append(next_step(steps[-1] + 1))
    yield from (step for step in reversed(steps) if step < factor)
    yield from (step for step in steps if step > factor)
