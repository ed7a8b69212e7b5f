# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a plan must know of each switch target: what it cannot do, and what it costs. Starts none of them.

`testbed.targets.table` has the target of each name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scenarios.faults.fault import Fault
from testbed.errors import UsageError
from testbed.load.costs import ProcessCost
from topologies.model import Topology
from topologies.settings import SwitchSettings

DEFAULT_TARGET = "soft"


@dataclass(frozen=True, slots=True)
class SwitchTarget:
    """A target as a plan sees it."""

    name: str
    cost: ProcessCost
    """Of one of its processes on a machine that nobody has measured: rather too much (docs/sources.md#dilation)."""
    no_virtual_clock: str | None = None
    """Why it has no virtual clock; None: it has one."""
    no_pfc: str | None = None
    """Why its queues cannot be paused; None: they can."""
    acks_apart: bool = False
    """Whether acknowledgements must have a class of their own: a queue whose rate is in packets takes each for data."""
    no_trimming: str | None = None
    """Why a header takes no less time on its wire than the packet it was cut from; None: it does."""
    no_outage: str | None = None
    """Why a switch can neither be restarted within a run nor made to stand still; None: it can."""
    registers: tuple[str, ...] = ()
    """Of the program, that it reads to know how deep queues are."""
    has_wires: bool = False
    """Whether it may want another program of the tree between the ends of links."""


SWITCH_TARGETS: Mapping[str, SwitchTarget] = {
    target.name: target
    for target in (
        SwitchTarget("soft", ProcessCost(frame_ns=12_000, lone_frame_ns=60_000, fixed_share=0.12)),
        SwitchTarget(
            "bmv2",
            ProcessCost(frame_ns=160_000, lone_frame_ns=400_000, fixed_share=0.05),
            no_virtual_clock="BMv2 reads the machine's",
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
    """The target that a name stands for. UsageError for what it cannot do; whether it is there, nobody asks here."""
    target = SWITCH_TARGETS.get(DEFAULT_TARGET if name == "auto" else name)
    if target is None:
        raise UsageError(f"no switch {name!r}; there are auto, {', '.join(SWITCH_TARGETS)}")
    if clock == "virtual" and target.no_virtual_clock is not None:
        raise UsageError(f"--switch {name} has no virtual clock: {target.no_virtual_clock}; use --clock real")
    if settings.pfc and target.no_pfc is not None:
        raise UsageError(f"--switch {name} cannot do pfc: {target.no_pfc}; use --switch {DEFAULT_TARGET}")
    if settings.trim_queue_bytes is not None and target.no_trimming is not None:
        raise UsageError(f"--switch {name} cannot trim: {target.no_trimming}; use --switch {DEFAULT_TARGET}")
    return target


def check_faults(target: SwitchTarget, faults: Iterable[Fault], topology: Topology) -> None:
    """UsageError for one that this target cannot make."""
    for fault in faults:
        if target.no_outage is not None and fault.switches(topology):
            where = f"--switch {target.name} cannot {fault.kind} {fault.place}"
            raise UsageError(f"{where}: {target.no_outage}; use --switch {DEFAULT_TARGET}")
