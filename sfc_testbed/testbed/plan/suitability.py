# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Warnings about settings of the network that the transport of a run is not made for.

The algorithms declare what they tolerate: `LossRecovery.tolerates_reordering` and `CongestionControl.needs_one_path`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS
from sfc_testbed.hosts.transport.loss_recovery import LOSS_RECOVERIES
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.topologies.model import Topology
from sfc_testbed.topologies.routes import routes

if TYPE_CHECKING:
    from sfc_testbed.scenarios.faults.fault import Fault


def setting_warnings(
    switch: SwitchSettings, transport: TransportSettings, topology: Topology, faults: Sequence[Fault]
) -> tuple[str, ...]:
    """Return a sentence for each setting that is known to break the run's loss recovery or congestion control."""
    has_choice = switch.changes_paths and _has_equal_paths(topology)
    setting = f"switch.load_balancing={switch.load_balancing}"
    reordering = [setting] if has_choice and switch.reorders else []
    reordering += [f"fault {fault}" for fault in faults if fault.reorders]
    return (
        *_of_loss_recovery(transport.loss_recovery, reordering),
        *_of_congestion(transport.congestion, [setting] * has_choice),
    )


def _of_loss_recovery(name: str, reordering: Sequence[str]) -> Iterator[str]:
    if LOSS_RECOVERIES[name].tolerates_reordering or not reordering:
        return
    tolerant = ", ".join(other for other, recovery in LOSS_RECOVERIES.items() if recovery.tolerates_reordering)
    yield (
        f"{' and '.join(reordering)}: packets of a flow overtake one another, and loss recovery {name} takes this for "
        f"loss and sends packets again that were not lost. Reordering is tolerated by: {tolerant}."
    )


def _of_congestion(name: str, changing: Sequence[str]) -> Iterator[str]:
    if changing and CONGESTION_CONTROLS[name].needs_one_path:
        yield (
            f"{changing[0]}: packets of a flow pass different switches, and congestion control {name} compares "
            "the telemetry of successive packets, so that it computes wrong loads and may send far too slowly."
        )


def _has_equal_paths(topology: Topology) -> bool:
    """Return whether a switch has several shortest paths to a destination."""
    return any(len(route.ports) > 1 for of_switch in routes(topology).values() for route in of_switch)
