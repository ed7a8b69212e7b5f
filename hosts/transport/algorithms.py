# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""From the names in the settings to new objects of the chosen algorithms, their parameters in wall units."""

from hosts.transport.congestion import CONGESTION_CONTROLS, CongestionControl, PathContext
from hosts.transport.flow_control import FLOW_CONTROLS, FlowControl
from hosts.transport.loss_recovery import LOSS_RECOVERIES, LossRecovery, PacketOrder
from hosts.transport.settings import TransportSettings, build_parameters, row_of
from wire.dilation import Dilation
from wire.units import bandwidth_delay_bytes


class Algorithms:
    """One row of each table; a factory of what a queue pair needs."""

    def __init__(self, settings: TransportSettings, dilation: Dilation) -> None:
        """`settings` in model units. Raises ValueError for an unknown algorithm or parameter."""
        self._wall = wall = settings.dilated(dilation)
        self.path = PathContext(
            line_rate_bps=wall.line_rate_bps,
            base_rtt_ns=wall.base_rtt_ns,
            payload_bytes=wall.payload_bytes,
            bdp_bytes=bandwidth_delay_bytes(wall.line_rate_bps, wall.base_rtt_ns),
        )
        self.congestion = row_of(CONGESTION_CONTROLS, settings.congestion, "congestion control")
        self.flow_control = row_of(FLOW_CONTROLS, settings.flow_control, "flow control")
        self.loss_recovery = row_of(LOSS_RECOVERIES, settings.loss_recovery, "loss recovery")
        self._for_congestion = build_parameters(self.congestion.Parameters, settings.congestion_parameters, dilation)
        self._for_flow_control = build_parameters(
            self.flow_control.Parameters, settings.flow_control_parameters, dilation
        )
        self._for_recovery = build_parameters(
            self.loss_recovery.Parameters, settings.loss_recovery_parameters, dilation
        )

    @property
    def uses_telemetry(self) -> bool:
        """Whether data packets carry the header of `wire.int_header`."""
        return self.congestion.wants_telemetry or self.flow_control.wants_delay

    def new_congestion(self) -> CongestionControl:
        """For a new queue pair."""
        return self.congestion(self._for_congestion, self.path)

    def new_flow_control(self) -> FlowControl:
        """For a new queue pair."""
        return self.flow_control(self._for_flow_control, self.path, self._wall.max_pause_ns)

    def new_recovery(self, first_index: int) -> LossRecovery:
        """For the sending half of a queue pair whose next packet has this index."""
        return self.loss_recovery(self._for_recovery, self.path, self._wall.rto_ns, first_index)

    def new_order(self) -> PacketOrder:
        """For the receiving half of a queue pair."""
        return self.loss_recovery.Order(self._for_recovery)
