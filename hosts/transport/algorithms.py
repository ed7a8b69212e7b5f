# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Construction of the algorithms that the settings name, with their parameters in wall units."""

from dataclasses import asdict, replace
from typing import Any

from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS, CongestionControl, PathContext
from sfc_testbed.hosts.transport.congestion.telemetry import compact_layout
from sfc_testbed.hosts.transport.flow_control import FLOW_CONTROLS, FlowControl
from sfc_testbed.hosts.transport.load_balancing import LOAD_BALANCINGS, LoadBalancing
from sfc_testbed.hosts.transport.loss_recovery import LOSS_RECOVERIES, LossRecovery, PacketOrder
from sfc_testbed.hosts.transport.settings import (
    TransportSettings,
    algorithm_of,
    algorithms_of,
    build_parameters,
    dilate,
)
from sfc_testbed.wire.constants import INT_UDP_PORT, ROCE_UDP_PORT, BtsCause
from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.units import bandwidth_delay_bytes


class Algorithms:
    """The chosen congestion control, flow control, loss recovery and load balancing, and a factory of their objects.

    It is stateless, so NICs of the same rate share one object.
    """

    def __init__(self, settings: TransportSettings, dilation: Dilation) -> None:
        """Look up the algorithms of `settings` (model units). Raises ValueError for an unknown name or parameter."""
        self.line_rate_bps = settings.line_rate_bps
        """Line rate of the NIC, in model units."""
        self.wall = dilate(settings, dilation)
        """The settings in wall units."""
        self.dilation = dilation
        self.path = path_context(self.wall)
        if settings.int_layout == "compact":
            self.path = replace(self.path, telemetry=compact_layout(settings.link_rates_bps, dilation))
        if settings.int_path:
            self.path = replace(self.path, telemetry=replace(self.path.telemetry, names_path=True))
        self.congestion = algorithm_of(CONGESTION_CONTROLS, settings.congestion, "congestion control")
        self.flow_control = algorithm_of(FLOW_CONTROLS, settings.flow_control, "flow control")
        self.loss_recovery = algorithm_of(LOSS_RECOVERIES, settings.loss_recovery, "loss recovery")
        self.load_balancing = algorithm_of(LOAD_BALANCINGS, settings.load_balancing, "load balancing")
        self.changes_entropy: bool = self.load_balancing.entropy is not LoadBalancing.entropy
        """Whether the packets of a flow have different UDP source ports."""
        self.obeyed = [self._obeys(cause) for cause in sorted(BtsCause)]
        """Whether an algorithm obeys a BTS of a cause, by the number of the cause."""
        full = resolved(settings)
        self._for_congestion = build_parameters(self.congestion.Parameters, full.congestion_parameters, dilation)
        self._for_flow_control = build_parameters(self.flow_control.Parameters, full.flow_control_parameters, dilation)
        self._for_recovery = build_parameters(self.loss_recovery.Parameters, full.loss_recovery_parameters, dilation)
        self._recovery_variant = self.loss_recovery.variant(self._for_recovery)
        self._for_balancing = build_parameters(self.load_balancing.Parameters, full.load_balancing_parameters, dilation)

    @property
    def uses_telemetry(self) -> bool:
        """Whether data packets carry the header of `wire.int_header`."""
        return self.congestion.wants_telemetry or self.congestion.wants_delay or self.flow_control.wants_delay

    @property
    def is_ecn_capable(self) -> bool:
        """Whether data packets are ECN-capable."""
        return self.congestion.ecn_capable or self.load_balancing.ecn_capable

    @property
    def data_port(self) -> int:
        """The UDP port that data packets are sent to."""
        return INT_UDP_PORT if self.uses_telemetry else ROCE_UDP_PORT

    def _obeys(self, cause: BtsCause) -> bool:
        """Return whether an algorithm obeys a BTS of this cause.

        Requests for a pause are for the flow control, all others for the congestion control.
        """
        return self.flow_control.obeys_signals if cause.requests_pause else self.congestion.obeyed_cause == cause

    def new_congestion(self) -> CongestionControl:
        """Return the congestion control of a new queue pair."""
        return self.congestion(self._for_congestion, self.path)

    def new_flow_control(self) -> FlowControl:
        """Return the flow control of a new queue pair."""
        return self.flow_control(self._for_flow_control, self.path, self.wall.max_pause_ns)

    def new_recovery(self, first_index: int) -> LossRecovery:
        """Return the loss recovery of a sending queue pair whose next packet is `first_index`."""
        return self._recovery_variant(self._for_recovery, self.path, self.wall.rto_ns, first_index)

    def new_load_balancing(self, first_entropy: int, seed: int) -> LoadBalancing | None:
        """Return the load balancing of a new queue pair; None if its entropy never changes."""
        if not self.changes_entropy:
            return None
        return self.load_balancing(self._for_balancing, self.path, first_entropy, seed)

    def new_order(self) -> PacketOrder:
        """Return the packet order of a receiving queue pair."""
        return self.loss_recovery.Order(self._for_recovery)


def path_context(settings: TransportSettings) -> PathContext:
    """Return the path properties that algorithms get, in the same units as `settings`."""
    return PathContext(
        line_rate_bps=settings.line_rate_bps,
        base_rtt_ns=settings.base_rtt_ns,
        payload_bytes=settings.payload_bytes,
        bdp_bytes=settings.bdp_bytes or max(1, bandwidth_delay_bytes(settings.line_rate_bps, settings.base_rtt_ns)),
        full_queue_ns=settings.full_queue_ns,
        shortest_rtt_ns=settings.shortest_rtt_ns,
    )


def resolved(settings: TransportSettings) -> TransportSettings:
    """Return the settings with every parameter of their algorithms filled in.

    Raises ValueError for an unknown parameter.
    """
    path = path_context(settings)
    complete: dict[str, Any] = {}
    for name, algorithm in algorithms_of(settings).items():
        chosen = build_parameters(algorithm.Parameters, getattr(settings, f"{name}_parameters"), Dilation())
        complete[f"{name}_parameters"] = asdict(algorithm.resolve(chosen, path))
    return replace(settings, bdp_bytes=path.bdp_bytes, **complete)
