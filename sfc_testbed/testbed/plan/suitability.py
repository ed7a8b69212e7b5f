# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Warnings about settings of the network that the transport of a run is not made for.

The algorithms declare what they tolerate: `LossRecovery.is_tolerant` and `CongestionControl.needs_one_path`. Load
balancings declare what they do: `SwitchSettings.changes_paths` and `reorders`, `LoadBalancing.reorders` of hosts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS
from sfc_testbed.hosts.transport.load_balancing import LOAD_BALANCINGS
from sfc_testbed.hosts.transport.loss_recovery import LOSS_RECOVERIES
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.testbed.flows.ideal import PathChange
from sfc_testbed.topologies.model import Topology
from sfc_testbed.topologies.routes import routes

if TYPE_CHECKING:
    from sfc_testbed.scenarios.faults.fault import Fault


def path_change(switch: SwitchSettings, transport: TransportSettings) -> PathChange:
    """Return which packets of a flow take different paths, by the choice of switches or of hosts."""
    if switch.reorders or LOAD_BALANCINGS[transport.load_balancing].reorders:
        return PathChange.ANY_FRAME
    changes = switch.changes_paths or transport.load_balancing != "flow"
    return PathChange.BETWEEN_FLOWLETS if changes else PathChange.NEVER


def setting_warnings(
    switch: SwitchSettings, transport: TransportSettings, topology: Topology, faults: Sequence[Fault]
) -> tuple[str, ...]:
    """Return a sentence for each setting that is known to break the run's loss recovery or congestion control."""
    by_switches = [f"switch.load_balancing={switch.load_balancing}"] * switch.changes_paths
    by_hosts = [f"transport.load_balancing={transport.load_balancing}"] * (transport.load_balancing != "flow")
    changing = [*by_switches, *by_hosts] if _has_equal_paths(topology) else []
    reordering = changing if path_change(switch, transport) is PathChange.ANY_FRAME else []
    reordering += [f"fault {fault}" for fault in faults if fault.reorders]
    return (*_of_loss_recovery(transport, reordering), *_of_congestion(transport, changing))


def _of_loss_recovery(transport: TransportSettings, reordering: Sequence[str]) -> Iterator[str]:
    name = transport.loss_recovery
    parameters = replace(LOSS_RECOVERIES[name].Parameters(), **transport.loss_recovery_parameters)
    if LOSS_RECOVERIES[name].is_tolerant(parameters) or not reordering:
        return
    tolerant = ", ".join(other for other, recovery in LOSS_RECOVERIES.items() if recovery.tolerates_reordering)
    yield (
        f"{' and '.join(reordering)}: packets of a flow overtake one another, and loss recovery {name} takes this for "
        f"loss and sends packets again that were not lost. Reordering is tolerated by: {tolerant}; and by irn with "
        'transport.loss_recovery_parameters={"reordering_rtts": 1}, which --load-balancing sets.'
    )


def _of_congestion(transport: TransportSettings, changing: Sequence[str]) -> Iterator[str]:
    if changing and CONGESTION_CONTROLS[transport.congestion].needs_one_path and not transport.int_path:
        yield (
            f"{changing[0]}: packets of a flow pass different switches, and congestion control {transport.congestion} "
            "compares the telemetry of successive packets, so that it computes wrong loads and may send far too "
            "slowly. Use transport.int_path=true, which --load-balancing sets."
        )


def _has_equal_paths(topology: Topology) -> bool:
    """Return whether a switch has several shortest paths to a destination."""
    return any(len(route.ports) > 1 for of_switch in routes(topology).values() for route in of_switch)
