# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The table of switch targets: what they cannot do. `testbed.targets.table` has their classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.topologies.model import Topology

if TYPE_CHECKING:
    from sfc_testbed.scenarios.faults.fault import Fault

DEFAULT_TARGET = "soft"


@dataclass(frozen=True, slots=True)
class SwitchTarget:
    """A target with the properties that a plan needs."""

    name: str
    no_virtual_clock: str | None = None
    """The reason why the target has no virtual clock; None if it has one."""
    no_pfc: str | None = None
    """The reason why the target's queues cannot be paused; None if they can."""
    acks_apart: bool = False
    """Whether acknowledgments need their own class, because a queue with a rate in packets takes each for data."""
    no_trimming: str | None = None
    """The reason why a trimmed packet takes as long on the wire as a whole one; None if it takes less time."""
    no_outage: str | None = None
    """The reason why a switch can neither restart nor stall during a run; None if it can."""
    registers: tuple[str, ...] = ()
    """The registers of the P4 program that the target reads to get queue depths."""
    has_wires: bool = False
    """Whether it may need softswitch wires, with another program of the tree, between the ends of links."""


SWITCH_TARGETS: Mapping[str, SwitchTarget] = {
    target.name: target
    for target in (
        SwitchTarget("soft"),
        SwitchTarget(
            "bmv2",
            no_virtual_clock="BMv2 reads the machine's clock",
            no_pfc="a queue of BMv2 cannot be paused",
            acks_apart=True,
            no_trimming="a queue of BMv2 counts packets, so a header takes as long as the packet it was cut from",
            no_outage="a queue of BMv2 can be neither emptied nor held",
            registers=("buffer_bytes", "queue_bytes"),
            has_wires=True,
        ),
    )
}


def switch_target(name: str, clock: str, settings: SwitchSettings) -> SwitchTarget:
    """Return a target by name. Raises UsageError for what it cannot do; its installation is not checked here."""
    target = SWITCH_TARGETS.get(DEFAULT_TARGET if name == "auto" else name)
    if target is None:
        raise UsageError(f"unknown switch {name!r}; choose from auto, {', '.join(SWITCH_TARGETS)}")
    if clock == "virtual" and target.no_virtual_clock is not None:
        raise UsageError(f"--switch {name} has no virtual clock: {target.no_virtual_clock}; use --clock real")
    if settings.pfc and target.no_pfc is not None:
        raise UsageError(f"--switch {name} cannot do pfc: {target.no_pfc}; use --switch {DEFAULT_TARGET}")
    if settings.bfc_queues is not None and target.no_pfc is not None:
        raise UsageError(f"--switch {name} cannot do bfc: {target.no_pfc}; use --switch {DEFAULT_TARGET}")
    if settings.trim_queue_bytes is not None and target.no_trimming is not None:
        raise UsageError(f"--switch {name} cannot trim: {target.no_trimming}; use --switch {DEFAULT_TARGET}")
    return target


def check_faults(target: SwitchTarget, faults: Iterable[Fault], topology: Topology) -> None:
    """Raise UsageError for a fault that the target cannot produce."""
    for fault in faults:
        if target.no_outage is not None and fault.switches(topology):
            where = f"--switch {target.name} cannot {fault.kind} {fault.place}"
            raise UsageError(f"{where}: {target.no_outage}; use --switch {DEFAULT_TARGET}")
